// The first requests of each page. The start script sends them before everything else is loaded.

const API = '/api/v2';

/** The path of a list with its cursor, which is in the URL of the page. */
export function listPath(path: string, query: Record<string, string | undefined>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value && name !== 'after') words.set(name, value);
  for (const [name, value] of new URLSearchParams(query['after'] ?? '')) words.set(name, value);
  const text = words.toString();
  return `${API}${path}${text && '?'}${text}`;
}

export const HOME = [
  `${API}/main-page/blocks`, `${API}/main-page/transactions`, `${API}/stats`, `${API}/main-page/indexing-status`,
];

/** The requests that a page sends at once, as paths of this origin. */
export function firstRequests(pathname: string, search: string): string[] {
  const [noun = '', id = '', ...rest] = pathname.split('/').filter(Boolean);
  const query = Object.fromEntries(new URLSearchParams(search)) as Record<string, string | undefined>;
  const after = { after: query['after'] };
  const tab = query['tab'] ?? rest[0];
  switch (noun) {
    case '': return HOME;
    case 'blocks': return [listPath('/blocks', { type: query['type'], ...after })];
    case 'txs': return [listPath('/transactions', after)];
    case 'internal-txs': return [listPath('/internal-transactions', after)];
    case 'token-transfers': return [listPath('/token-transfers', after)];
    case 'gas': return [`${API}/stats`];
    case 'withdrawals': return [listPath('/withdrawals', after)];
    case 'accounts': return [listPath('/addresses', { sort: query['sort'], ...after })];
    case 'tokens': return [listPath('/tokens', { q: query['q'], type: query['type'], ...after })];
    case 'block':
      // A hash may be that of an uncle, which has no list of transactions.
      return [`${API}/blocks/${id}`, ...(tab || !/^\d+$/.test(id) ? [] : [listPath(`/blocks/${id}/transactions`, { sort: query['sort'], ...after })])];
    case 'tx': {
      const page = `${API}/transactions/${id}`;
      if (tab === 'trace') return [page, `${page}/calls`];
      return [page, ...(tab && tab !== 'index' ? [] : [`${page}/summary`, `${page}/state-changes`])];
    }
    case 'address': {
      const page = `${API}/addresses/${id}`;
      const list = tab ? [] : [listPath(`/addresses/${id}/transactions`, { filter: query['filter'], sort: query['sort'], order: query['order'], ...after })];
      return [page, `${page}/tabs-counters`, ...list];
    }
    case 'token': {
      if (rest[0] === 'instance') return [`${API}/tokens/${id}/instances/${rest[1] ?? ''}`];
      return [`${API}/tokens/${id}`, `${API}/tokens/${id}/counters`, ...(tab ? [] : [listPath(`/tokens/${id}/transfers`, after)])];
    }
    default: return [];
  }
}

/** The scripts that the page at a path needs besides the first, from `word:file,file;word:file`. */
export function partFiles(pathname: string, parts: string): string[] {
  const word = pathname.split('/')[1];
  const found = parts.split(';').map((part) => part.split(':')).find(([name]) => name === word);
  return found?.[1]?.split(',') ?? [];
}
