// Paths and tabs of other explorers. The server has their first segments too: src/web/page.rs.

const enc = encodeURIComponent;

/** The paths of one object, by their first segment. */
const OBJECT_PATHS: Record<string, (id: string, rest: string[]) => string> = {
  account: (id) => `/address/${id}`, accounts: (id) => `/address/${id}`, addresses: (id) => `/address/${id}`, contract: (id) => `/address/${id}?tab=contract`,
  blocks: (id) => `/block/${id}`, uncle: (id) => `/block/${id}`, transaction: (id) => `/tx/${id}`, transactions: (id) => `/tx/${id}`, txn: (id) => `/tx/${id}`, txs: (id) => `/tx/${id}`,
  tokens: (id) => `/token/${id}`, charts: () => '/charts', stats: () => '/charts',
  nft: (id, [token]) => (token ? `/token/${id}/instance/${token}` : `/token/${id}`),
};

/** The paths of lists. */
const LISTS: Record<string, string> = {
  account: '/accounts', addresses: '/accounts', uncles: '/blocks?type=uncle', blocks_forked: '/blocks?type=reorg', transaction: '/txs', transactions: '/txs', txn: '/txs',
  txsInternal: '/internal-txs', internal_txs: '/internal-txs', 'internal-transactions': '/internal-txs', txsBeacon: '/withdrawals', tokentxns: '/token-transfers', 'tokentxns-nft': '/token-transfers',
  'nft-transfers': '/token-transfers', nft_transfers: '/token-transfers', nft: '/tokens?type=ERC-721,ERC-1155', stats: '/charts', gastracker: '/gas', 'gas-tracker': '/gas',
  'advanced-filter': '/scan', 'advanced-filters': '/scan',
};

/** The path of this page that a path of another explorer means; `null` if it is canonical already, or unknown. */
export function canonicalPath(pathname: string, search: string, fragment: string): string | null {
  const [noun = '', id = '', ...rest] = pathname.split('/').filter(Boolean);
  const query = new URLSearchParams(search);
  if (noun === 'search-results') return `/search?q=${enc(query.get('q') ?? '')}`;
  if (noun === 'token' && id && rest.length === 0 && query.get('a')) return idOrHolder(id, query.get('a') ?? '');
  if (noun === 'block' && rest[0] === 'f') return '/blocks?type=reorg';
  if (noun === 'txs' && (query.get('block') || query.get('a'))) return query.get('block') ? `/block/${enc(query.get('block') ?? '')}` : `/address/${enc(query.get('a') ?? '')}`;
  const part = fragment.replace(/^#/, '');
  if (['tx', 'address', 'token', 'block'].includes(noun) && /^[a-z_-]+$/i.test(part) && part !== 'content' && !query.has('tab')) return `${pathname}?tab=${part}`;
  const one = id ? OBJECT_PATHS[noun]?.(enc(id), rest.map(enc)) : undefined;
  return one ?? (id ? null : (LISTS[noun] ?? null));
}

/** `?a=` has the id of an NFT, or the address of a holder. */
const idOrHolder = (token: string, a: string) => (/^0x/i.test(a) ? `/address/${enc(a)}?tab=token_transfers` : `/token/${token}/instance/${enc(a)}`);
