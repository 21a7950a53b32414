// Whether a delegation of a transaction (EIP-7702) took effect: https://eips.ethereum.org/EIPS/eip-7702#behavior
import type { Transaction } from '../api/types.ts';

export type Authorization = Pick<NonNullable<Transaction['authorization_list']>[number], 'authority' | 'chain_id' | 'nonce' | 'status' | 'address_hash'>;

/** The nonces of the account before and after the block; `null` if its state is not known. */
export interface Nonces { before: number | null; after: number | null }

/** Whether an authorization is valid, and why not; `isValid` is `null` if that is not known. */
export function validityOf(of: Omit<Authorization, 'address_hash'>, chainId: number | null, { before, after }: Nonces): { isValid: boolean | null; why: string } {
  if (of.status === 'ok') return { isValid: true, why: 'valid' };
  if (of.status === 'invalid_chain_id' || (String(of.chain_id) !== '0' && chainId !== null && String(of.chain_id) !== String(chainId))) return { isValid: false, why: `void: it is for the chain ${of.chain_id}` };
  if (of.status === 'invalid_signature' || !of.authority) return { isValid: false, why: 'void: the signature recovers to no address' };
  const nonce = BigInt(of.nonce);
  if (before !== null && BigInt(before) > nonce) return { isValid: false, why: `void: the account was at nonce ${before} already` };
  // An authorization that is valid uses its nonce.
  if (after !== null && BigInt(after) <= nonce) return { isValid: false, why: `void: the account was at nonce ${after} after the block` };
  if (of.status === 'invalid_nonce') return { isValid: false, why: 'void: the account was at another nonce' };
  if (before === null || after === null) return { isValid: null, why: 'validity unknown: the state of the account is not loaded' };
  return { isValid: null, why: 'validity unknown: this or another transaction of the block used the nonce' };
}
