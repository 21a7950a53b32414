// What a search found.
import { useLocation } from 'preact-iso';
import { type Found, nameOf, pageOf } from '../format/found.ts';
import { shortName, visible } from '../format/hash.ts';
import { Paged } from '../parts/Paged.tsx';
import type { Column } from '../parts/Table.tsx';
import { useTitle } from '../parts/title.ts';
import { SearchBox } from '../parts/SearchBox.tsx';
import { Time } from '../parts/Time.tsx';

const columns: Column<Found>[] = [
  { name: 'Found', cell: (item) => <a href={pageOf(item)}><bdi>{nameOf(item)}</bdi>{item.symbol ? ` (${shortName(item.symbol, 20)})` : ''}</a> },
  { name: 'Kind', cell: (item) => item.type },
  { name: 'Where', cell: (item) => <span class="hash whole">{item.address_hash ?? item.transaction_hash ?? item.block_hash ?? ''}</span> },
  { name: 'Time', cell: (item) => (item.timestamp ? <Time at={item.timestamp} /> : '') },
];

export function Search() {
  const { query } = useLocation();
  const words = (query['q'] ?? '').trim();
  useTitle(words ? `Search: ${words}` : 'Search');
  return (
    <>
      <h1>Search</h1>
      <SearchBox start={words} big />
      {words && <p class="quiet">Names with a word that begins with <bdi>“{visible(words).slice(0, 100)}”</bdi>, and what has it as its hash or height.</p>}
      {words && <Paged<Found> path="/search" query={{ q: words }} columns={columns} id={(item) => pageOf(item)} label="What was found" empty="Nothing was found. A hash or a height that is not loaded is not found either." />}
    </>
  );
}
