// All tokens, ordered by number of holders.
import { useLocation } from 'preact-iso';
import type { Token } from '../api/types.ts';
import { shortName } from '../format/hash.ts';
import { Address } from '../parts/Address.tsx';
import { TokenName, Units } from '../parts/Amount.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { withQuery } from '../parts/list/query.ts';
import type { Column } from '../parts/list/Table.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { countOrUnknown } from './columns.tsx';

const columns: Column<Token>[] = [
  { name: 'Token', cell: (token) => <TokenName token={token} /> },
  { name: 'Name', cell: (token) => (token.name ? <bdi>{shortName(token.name, 36)}</bdi> : <Unknown />) },
  { name: 'Standard', cell: (token) => token.type },
  { name: 'Contract', cell: (token) => <Address of={{ hash: token.address_hash }} copy /> },
  { name: 'Holders', right: true, cell: (token) => countOrUnknown(token.holders_count) },
  { name: 'Supply', right: true, cell: (token) => <Units value={token.total_supply} decimals={token.type === 'ERC-20' ? token.decimals : '0'} /> },
];

export function Tokens() {
  useTitle('Tokens');
  const { path, query, route } = useLocation();
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const words = new FormData(event.currentTarget as HTMLFormElement).get('q');
    route(withQuery(path, query, { q: String(words ?? '').trim(), after: undefined }));
  };
  return (
    <>
      <h1>Tokens</h1>
      <form class="tools" onSubmit={find} role="search" aria-label="Search tokens">
        <input name="q" value={query['q'] ?? ''} placeholder="Name, symbol or address" aria-label="Name, symbol or address of a token" key={query['q']} />
        <button type="submit" class="button">Find</button>
        <span class="choice">{['', 'ERC-20', 'ERC-721', 'ERC-1155'].map((type) => <a key={type} href={withQuery(path, query, { type, after: undefined })} aria-current={type === (query['type'] ?? '') ? 'true' : undefined}>{type || 'All'}</a>)}</span>
      </form>
      <PagedTable<Token> path="/tokens" query={{ q: query['q'], type: query['type'] }} columns={columns} id={(token) => token.address_hash} label="Tokens" empty={query['q'] || query['type'] ? 'No listed token matches.' : 'No tokens are listed. A token is listed once its holders are counted, for which the chain has to be loaded from its first block on.'} />
    </>
  );
}
