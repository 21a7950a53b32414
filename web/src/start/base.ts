// The base path of the page: a server with several chains has each below its name.

const attributes: DOMStringMap = globalThis.document?.documentElement.dataset ?? {};

/** The base path: `/` and the name of the chain; empty if the server has one chain. */
export const base = attributes['base'] ?? '';

/** The names of all chains of the server; empty if it has one. */
export const chains: string[] = attributes['chains']?.split(' ') ?? [];

/** Whether visitors may run SQL under accounts of their own. */
export const hasSql = attributes['sql'] !== undefined;

/** The path that all chains of a server share. */
const SHARED = '/metrics';

/** A path of the page with the base path, as the server expects it. */
export const serverPath = (path: string, before = base): string => (path === SHARED ? path : before + path);

/** A path of the server without the base path. */
export const chainPath = (path: string, before = base): string => (path === before || path.startsWith(`${before}/`) ? path.slice(before.length) || '/' : path);

/** The path of the same page on another chain; blocks, transactions, operations and tokens exist on one chain only, so that these lead to its home page. */
export const otherChainPath = (chain: string, path: string): string => `/${chain}${/^\/(block|tx|op|token)\//.test(path) ? '/' : path}`;
