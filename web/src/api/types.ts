// The parts of the API's objects that are shown. Every field of them: /api/v2/openapi. Null is what is not known.

export interface Page<T> { items: T[]; next_page_params: Record<string, string | number | null> | null }

export interface AddressRef {
  hash: string;
  name: string | null;
  ens_domain_name: string | null;
  is_contract: boolean | null;
  is_verified: boolean | null;
  implementation_name: string | null;
  implementations: { address_hash: string; name: string | null }[];
  proxy_type: string | null;
  public_tags: { display_name: string }[];
}

export interface AddressPage extends AddressRef {
  coin_balance: string | null;
  block_number_balance_updated_at: number | null;
  creator_address_hash: string | null;
  creation_transaction_hash: string | null;
  creation_status: string | null;
  token: Token | null;
}

export interface RankedAddress extends AddressRef { coin_balance: string | null; transactions_count: string | null }

export interface Token {
  address_hash: string;
  name: string | null;
  symbol: string | null;
  decimals: string | null;
  type: string;
  total_supply: string | null;
  holders_count: string | null;
  exchange_rate: string | null;
  /** On the page of the token: after which block holders and supply are counted. */
  block_number?: number | null;
}

export interface Block {
  height: number;
  hash: string;
  parent_hash: string;
  timestamp: string;
  type: string;
  miner: AddressRef | null;
  nonce: string | null;
  size: number | null;
  difficulty: string | null;
  total_difficulty: string | null;
  gas_limit: string;
  gas_used: string;
  gas_used_percentage: number;
  base_fee_per_gas: string | null;
  burnt_fees: string | null;
  priority_fee: string | null;
  transaction_fees: string | null;
  transactions_count: number | null;
  withdrawals_count: number | null;
  internal_transactions_count: number | null;
  blob_transactions_count: number | null;
  blob_gas_used: string | null;
  excess_blob_gas: string | null;
  uncles_hashes: string[];
  rewards: { reward: number | string; type: string }[];
  extra_data: string | null;
  state_root: string | null;
  chain_facts?: ChainFact[];
  /** Of an uncle the block that names it. */
  nephew_block_number?: number;
}

/** What a chain has beyond Ethereum, with its name and what it is counted in. */
export interface ChainFact { name: string; unit: string; value: string }
export interface ChainCall { to: string | null; value: string; input: string }

export interface Parameter { name: string; type: string; value: unknown; indexed?: boolean }
export interface Decoded { method_call: string; method_id: string; parameters: Parameter[] }
export type RevertReason = Decoded | { raw: string };

export interface Transaction {
  hash: string;
  block_number: number;
  block_hash: string;
  position: number;
  timestamp: string;
  confirmations: number;
  nonce: number;
  type: number;
  from: AddressRef;
  to: AddressRef | null;
  created_contract: AddressRef | null;
  value: string;
  method: string | null;
  raw_input: string;
  transaction_types: string[];
  decoded_input: Decoded | null;
  gas_limit: string;
  gas_price: string | null;
  max_fee_per_gas: string | null;
  max_priority_fee_per_gas: string | null;
  blob_versioned_hashes?: string[];
  blob_gas_used?: string | null;
  blob_gas_price?: string | null;
  max_fee_per_blob_gas?: string | null;
  burnt_blob_fee?: string | null;
  gas_used: string | null;
  base_fee_per_gas: string | null;
  fee: { type: string; value: string | null };
  priority_fee: string | null;
  transaction_burnt_fee: string | null;
  status: 'ok' | 'error' | null;
  result: string | null;
  revert_reason: RevertReason | null;
  has_error_in_internal_transactions: boolean | null;
  token_transfers: TokenTransfer[] | null;
  token_transfers_overflow: boolean | null;
  chain_facts?: { type: string | null; fee: ChainFact[]; facts: ChainFact[]; calls_count: number | null; calls: ChainCall[] | null };
  authorization_list: { address_hash?: string; authority: string | null; chain_id: string; nonce: string }[] | null;
}

export interface Total { value?: string | null; decimals?: string | null; token_id?: string | null }

export interface TokenTransfer {
  transaction_hash: string;
  block_number: number;
  log_index: number;
  timestamp: string;
  from: AddressRef;
  to: AddressRef;
  token: Token;
  token_type: string;
  total: Total | null;
  type: string;
  method: string | null;
}

export interface InternalTransaction {
  block_number: number;
  index: number;
  transaction_hash: string;
  timestamp: string;
  type: string;
  from: AddressRef;
  to: AddressRef | null;
  created_contract: AddressRef | null;
  value: string;
  gas_limit: string;
  success: boolean | null;
  error: string | null;
  is_undone: boolean;
}

export interface Log {
  address: AddressRef;
  block_number: number;
  block_timestamp: string;
  transaction_hash: string;
  index: number;
  topics: string[];
  data: string;
  decoded: Decoded | null;
}

export interface StateChange {
  type: 'coin' | 'token';
  address: AddressRef;
  is_miner: boolean;
  balance_before: string | null;
  balance_after: string | null;
  change: string | null;
  token: Token | null;
  token_id: string | null;
}

export interface Holding { token: Token; token_id: string | null; value: string | null }
export interface Holder { address: AddressRef; token_id: string | null; value: string | null }
export interface Instance { id: string; token_type: string; value: string | null; is_unique: boolean | null; owner: AddressRef | null; token: Token }
export interface Withdrawal { index: number; block_number?: number; timestamp?: string; validator_index: number; amount: string; receiver?: AddressRef }
export interface BalancePoint { block_number: number; block_timestamp: string; delta: string; value: string }
export interface Missing { fromBlock: string; toBlock: string }
