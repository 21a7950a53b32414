// What addresses are called, and which names two of them have.
import { signal } from '@preact/signals';
import type { AddressRef } from '../api/types.ts';
import { commonName } from '../format/precompile.ts';

/** Of an account that delegates (EIP-7702) the contract whose code it runs; `null` of any other address. */
export function delegateOf(of: Partial<Pick<AddressRef, 'proxy_type' | 'implementations' | 'implementation_name'>>): string | null {
  if (of.proxy_type !== 'eip7702') return null;
  return of.implementation_name ?? of.implementations?.[0]?.address_hash ?? 'a contract';
}

/**
 * Its label, ENS name, or what its token or contract is called; of a proxy without a name that of what it runs. An account is never
 * called by the name of its delegate. The API has one name for labels, tokens and contracts: only those of accounts are labels for certain.
 */
export function nameOf(of: AddressRef): string | null {
  const own = of.is_contract === true && of.proxy_type !== 'eip7702' ? (of.ens_domain_name ?? of.name) : (of.name ?? of.ens_domain_name);
  return own ?? (of.proxy_type === 'eip7702' ? null : of.implementation_name) ?? commonName(of.hash);
}

/** The first address that was shown by each name. */
const first = new Map<string, string>();
const shared = signal<ReadonlySet<string>>(new Set());
const MOST = 5000;

/** Whether another address was shown by the same name, so that neither can be told by it. */
export function isOfTwo(name: string, hash: string): boolean {
  const [key, address] = [name.toLowerCase(), hash.toLowerCase()];
  const known = first.get(key);
  if (known === undefined && first.size < MOST) first.set(key, address);
  else if (known !== undefined && known !== address && !shared.peek().has(key)) queueMicrotask(() => { shared.value = new Set([...shared.peek(), key]); });
  return shared.value.has(key);
}
