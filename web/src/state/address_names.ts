// Names of addresses, and which names several addresses share.
import { signal } from '@preact/signals';
import type { AddressRef } from '../api/types.ts';
import { commonName } from '../format/precompile.ts';

/** The contract whose code an account runs by delegation (EIP-7702); `null` for other addresses. */
export function delegateOf(of: Partial<Pick<AddressRef, 'proxy_type' | 'implementations' | 'implementation_name'>>): string | null {
  if (of.proxy_type !== 'eip7702') return null;
  return of.implementation_name ?? of.implementations?.[0]?.address_hash ?? 'a contract';
}

/**
 * The label, the ENS name, or the name of the token or contract; for a proxy without a name that of its implementation. An account never
 * takes the name of its delegate. The API has one name for labels, tokens and contracts: only the names of accounts are surely labels.
 */
export function nameOf(of: AddressRef): string | null {
  const own = of.is_contract === true && of.proxy_type !== 'eip7702' ? (of.ens_domain_name ?? of.name) : (of.name ?? of.ens_domain_name);
  return own ?? (of.proxy_type === 'eip7702' ? null : of.implementation_name) ?? commonName(of.hash);
}

/** The first address that each name was shown for. */
const firstAddress = new Map<string, string>();
const sharedNames = signal<ReadonlySet<string>>(new Set());
const MAX_NAMES = 5000;

/** Whether another address has been shown with the same name, so that the name does not identify either. */
export function isSharedName(name: string, hash: string): boolean {
  const [key, address] = [name.toLowerCase(), hash.toLowerCase()];
  const other = firstAddress.get(key);
  if (other === undefined && firstAddress.size < MAX_NAMES) firstAddress.set(key, address);
  else if (other !== undefined && other !== address && !sharedNames.peek().has(key)) queueMicrotask(() => { sharedNames.value = new Set([...sharedNames.peek(), key]); });
  return sharedNames.value.has(key);
}
