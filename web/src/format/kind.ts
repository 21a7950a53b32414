// The kind of a transaction: chains have types that neither call nor create a contract.
import type { Transaction } from '../api/types.ts';
import { precompileOf } from './precompile.ts';

type Sides = Pick<Transaction, 'to' | 'created_contract'> & Partial<Pick<Transaction, 'chain_facts'>>;

/** What a transaction is sent to: an account, a new contract, several calls, or nothing. */
export function recipientOf(of: Sides): 'account' | 'creation' | 'calls' | 'none' {
  if (of.to) return 'account';
  if (of.chain_facts?.calls) return 'calls';
  return of.created_contract || !of.chain_facts?.type ? 'creation' : 'none';
}

/** The name of what a transaction does: its method, the type of the chain, or what follows from its recipient and input. */
export function methodOf(of: Sides & Pick<Transaction, 'method' | 'transaction_types' | 'raw_input'>): string {
  const type = of.chain_facts?.type;
  if (of.to && precompileOf(of.to.hash)) return 'precompile';
  // The first bytes of the code of a creation are no method.
  if (of.method && !((type || of.to === null) && of.method.startsWith('0x'))) return of.method;
  if (type) return type;
  if (of.to === null) return 'creation';
  return of.transaction_types.includes('contract_call') && of.raw_input !== '0x' ? of.raw_input?.slice(0, 10) ?? 'call' : 'transfer';
}

/** The parts of a fee, if there are several. */
export function feeParts(of: Partial<Pick<Transaction, 'chain_facts'>>) {
  const parts = of.chain_facts?.fee ?? [];
  return parts.length > 1 ? parts : [];
}
