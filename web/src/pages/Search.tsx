// The results of a search.
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { count } from '../format/amount.ts';
import { type SearchItem, nameOf, pageOf } from '../format/search_item.ts';
import { shortName, visible } from '../format/hash.ts';
import { type Guess, guessesOf, searchedText } from '../format/query.ts';
import { Loading } from '../parts/Answer.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { hasKnownTokens } from '../state/known_tokens.ts';
import { useTitle } from '../parts/title.ts';
import { pathOf, searchVocabulary, SearchBox } from '../parts/SearchBox.tsx';
import { Time } from '../parts/Time.tsx';

const columns: Column<SearchItem>[] = [
  { name: 'Result', cell: (item) => <a href={pageOf(item)}><bdi>{nameOf(item)}</bdi>{item.symbol ? ` (${shortName(item.symbol, 20)})` : ''}</a> },
  { name: 'Kind', cell: (item) => item.type },
  { name: 'Address or hash', cell: (item) => <span class="hash whole">{item.address_hash ?? item.transaction_hash ?? item.block_hash ?? ''}</span> },
  { name: 'Time', cell: (item) => (item.timestamp ? <Time at={item.timestamp} /> : '') },
];

/** What the words may mean besides loaded names. */
function Guesses({ words }: { words: string }) {
  const guesses = guessesOf(words, searchVocabulary());
  if (guesses.length === 0) return null;
  return <ul class="guesses">{guesses.map((guess) => <li key={guess.kind + guess.name}><GuessLink guess={guess} /> <span class="quiet">{guess.kind}</span>{guess.note && <> <span class="quiet">{guess.note}.</span></>}</li>)}</ul>;
}

function GuessLink({ guess }: { guess: Guess }) {
  const [path, setPath] = useState<string | null | undefined>(guess.path);
  useEffect(() => {
    if (guess.path === undefined && guess.seconds !== undefined) void pathOf(guess).then(setPath);
  }, [guess.path, guess.seconds]);
  if (path) return <a href={path}><bdi>{guess.name}</bdi>{guess.path ? '' : `: ${count(path.split('/').pop() ?? '')}`}</a>;
  return <><bdi>{guess.name}</bdi>{guess.seconds !== undefined && path === null && <span class="quiet"> not loaded</span>}</>;
}

/** The longest wait for well-known tokens, in milliseconds. */
const PATIENCE = 1500;

/** Whether well-known tokens have arrived, which stand above the results, or will not soon. */
function useIsReady(): boolean {
  const [isImpatient, setImpatient] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setImpatient(true), PATIENCE);
    return () => clearTimeout(timer);
  }, []);
  return hasKnownTokens.value || isImpatient;
}

export function Search() {
  const { query } = useLocation();
  const words = searchedText(query['q'] ?? '');
  const hasGuesses = guessesOf(words, searchVocabulary()).some(({ kind }) => !['as an event', 'function', 'incomplete'].includes(kind));
  useTitle(words ? `Search: ${words}` : 'Search');
  const isReady = useIsReady();
  return (
    <>
      <h1>Search</h1>
      <SearchBox start={words} big />
      {words && !isReady && <Loading lines={30} />}
      {words && isReady && <><Guesses words={words} />
      <p class="quiet">Names with a word that begins with <bdi>“{visible(words).slice(0, 100)}”</bdi>, and objects with this hash or height.</p>
      <PagedTable<SearchItem> path="/search" query={{ q: words }} columns={columns} id={(item) => pageOf(item)} label="Search results" empty={`No ${hasGuesses ? 'further ' : ''}matches among loaded names, hashes and heights.`} /></>}
    </>
  );
}
