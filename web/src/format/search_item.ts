// Search results: their links and their names.
import { count } from './amount.ts';
import { shortHash, shortName } from './hash.ts';

export interface SearchItem {
  type: string; name?: string | null; symbol?: string | null; address_hash?: string; block_number?: number; block_hash?: string;
  transaction_hash?: string; user_operation_hash?: string; timestamp?: string;
}

/** The path of an item, which is always one of this page. */
export function pageOf(item: SearchItem): string {
  if (item.type === 'block') return `/block/${item.block_hash ?? item.block_number ?? ''}`;
  if (item.transaction_hash) return `/tx/${item.transaction_hash}`;
  if (item.user_operation_hash) return `/op/${item.user_operation_hash}`;
  if (item.type === 'token') return `/token/${item.address_hash ?? ''}`;
  return `/address/${item.address_hash ?? ''}`;
}

export function nameOf(item: SearchItem): string {
  if (item.type === 'block') return `Block ${count(item.block_number) ?? ''}`;
  if (item.transaction_hash) return `Transaction ${shortHash(item.transaction_hash)}`;
  if (item.user_operation_hash) return `User operation ${shortHash(item.user_operation_hash)}`;
  return item.name ? shortName(item.name, 60) : shortHash(item.address_hash ?? '');
}
