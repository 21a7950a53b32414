// The objects of the API that pages show, by its description: /api/v2/openapi. A value that is not known is null.

import type * as api from './schemas';

export interface Page<T> { items: T[]; next_page_params: Record<string, string | number | null> | null }

export type AddressRef = api.Address;
export type AddressPage = api.AddressPage;
export type RankedAddress = api.RankedAddress;
export type Token = api.Token;
export type Block = api.Block;

/** A value that a chain has beyond Ethereum, with its name and unit. */
export type ChainFact = api.ChainFact;

export type Transaction = api.Transaction;
export type ChainCall = NonNullable<NonNullable<Transaction['chain_facts']>['calls']>[number];
export type DecodedData = api.DecodedInput | api.DecodedLog;
export type Parameter = DecodedData['parameters'][number];
export type RevertReason = NonNullable<api.RevertReason>;
/** What was transferred: an amount, an id, or both. */
interface Total { value?: string | null; decimals?: string | null; token_id?: string | null }

export type TokenTransfer = Omit<api.TokenTransfer, 'total'> & { total: Total | null };
export type InternalTransaction = api.InternalTransaction;
export type Log = api.Log;
export type StorageStats = api.StorageStats;
export type StateChange = api.StateChange;
export type ListedOperation = api.ListedOperation;
/** Members from the input of the bundle are null if it is not known. */
export type UserOperation = api.UserOperation;
export type Holding = api.TokenBalance;
export type Holder = api.TokenHolder;
/** As in lists that are not grouped by token. */
export type Instance = api.TokenInstance & { token: Token };
/** Lists of an address and of the chain have its block too. */
export type Withdrawal = api.BlockWithdrawal & Partial<api.AddressWithdrawal>;
export type BalancePoint = api.CoinBalance;
/** A range of blocks that is not loaded. */
export type MissingRange = api.StateMissing['data']['missing'][number];
