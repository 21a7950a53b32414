// The parts of the API's objects that are shown, as its description has them: /api/v2/openapi. Null is what is not known.

import type * as api from './schemas';

export interface Page<T> { items: T[]; next_page_params: Record<string, string | number | null> | null }

export type AddressRef = api.Address;
export type AddressPage = api.AddressPage;
export type RankedAddress = api.RankedAddress;
export type Token = api.Token;
export type Block = api.Block;

/** What a chain has beyond Ethereum, with its name and what it is counted in. */
export type ChainFact = api.ChainFact;

export type Transaction = api.Transaction;
export type ChainCall = NonNullable<NonNullable<Transaction['chain_facts']>['calls']>[number];
export type Decoded = api.DecodedInput | api.DecodedLog;
export type Parameter = Decoded['parameters'][number];
export type RevertReason = NonNullable<api.RevertReason>;
/** What a transfer moved: an amount, an id, or both. */
export interface Total { value?: string | null; decimals?: string | null; token_id?: string | null }

export type TokenTransfer = Omit<api.TokenTransfer, 'total'> & { total: Total | null };
export type InternalTransaction = api.InternalTransaction;
export type Log = api.Log;
export type StateChange = api.StateChange;
export type ListedOperation = api.ListedOperation;
/** Members from the input of the bundle are null where that is not known. */
export type UserOperation = api.UserOperation;
export type Holding = api.TokenBalance;
export type Holder = api.TokenHolder;
/** Where they are not grouped by token. */
export type Instance = api.TokenInstance & { token: Token };
/** Of an address and of all with its block. */
export type Withdrawal = api.BlockWithdrawal & Partial<api.AddressWithdrawal>;
export type BalancePoint = api.CoinBalance;
export type Missing = api.StateMissing['data']['missing'][number];
