// Where the page is on its server: below the name of a chain, where that serves several.

const attributes: DOMStringMap = globalThis.document?.documentElement.dataset ?? {};

/** What comes before all paths: `/` and the name of the chain; nothing where the server has one chain. */
export const base = attributes['base'] ?? '';

/** The names of all chains of the server, in its order; none where it has one. */
export const chains: string[] = attributes['chains']?.split(' ') ?? [];

/** Whether visitors may run SQL under accounts of their own. */
export const hasSql = attributes['sql'] !== undefined;

/** What all chains of a server share. */
const SHARED = '/metrics';

/** A path of this chain as the server has it. */
export const onServer = (path: string, before = base): string => (path === SHARED ? path : before + path);

/** A path of the server as this chain has it. */
export const ofChain = (path: string, before = base): string => (path === before || path.startsWith(`${before}/`) ? path.slice(before.length) || '/' : path);

/** Where another chain has what stands at a path: what has a hash or a height is on one chain alone. */
export const onOther = (chain: string, path: string): string => `/${chain}${/^\/(block|tx|op|token)\//.test(path) ? '/' : path}`;
