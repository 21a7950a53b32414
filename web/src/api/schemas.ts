// Made by `cargo xtask types` of docs/reference/openapi.yaml.

export type Address = {
  ens_domain_name: string | null;
  /** @description The address, with the checksum of EIP-55 */
  hash: string;
  /** @description Name of the first implementation */
  implementation_name: string | null;
  /** @description Contracts that a proxy delegates to */
  implementations: Implementation[];
  /** @description Has or had code, or delegates to some (EIP-7702); null where unknown */
  is_contract: boolean | null;
  is_scam: boolean;
  /** @description Null for an account, and where is_contract is */
  is_verified: boolean | null;
  /** @description A tag: slug, name, tagType, ordinal, meta */
  metadata: Record<string, unknown> | null;
  name: string | null;
  private_tags: AddressTags;
  /** @enum {string|null} */
  proxy_type: "eip1167" | "eip1967" | "eip1822" | "eip1967_beacon" | "eip1967_oz" | "master_copy" | "eip2535" | "eip897" | "basic_implementation" | "basic_get_implementation" | "comptroller" | "eip7702" | null;
  public_tags: AddressTags;
  /** @enum {string} */
  reputation: "ok" | "scam";
  watchlist_names: AddressTags;
};

export type AddressPage = {
  /**
   * Format: int64
   * @description Height after which it has the balance
   */
  block_number_balance_updated_at: number | null;
  /** @description Wei after the head; null where state is not loaded */
  coin_balance: string | null;
  /** @enum {string|null} */
  creation_status: "success" | "selfdestructed" | null;
  creation_transaction_hash: string | null;
  /** @description Same as creation_transaction_hash, for older clients */
  creation_tx_hash: string | null;
  creator_address_hash: string | null;
  ens_domain_name: string | null;
  /** @description Price of the chain's coin */
  exchange_rate: string | null;
  has_beacon_chain_withdrawals: boolean | null;
  /** @description Emitted a log; null if unknown, like the other four */
  has_logs: boolean | null;
  has_token_transfers: boolean | null;
  has_tokens: boolean | null;
  has_validated_blocks: boolean | null;
  /** @description The address, with the checksum of EIP-55 */
  hash: string;
  /** @description Name of the first implementation */
  implementation_name: string | null;
  /** @description Contracts that a proxy delegates to */
  implementations: Implementation[];
  /** @description Has or had code, or delegates to some (EIP-7702); null where unknown */
  is_contract: boolean | null;
  is_scam: boolean;
  /** @description Null for an account, and where is_contract is */
  is_verified: boolean | null;
  /** @description A tag: slug, name, tagType, ordinal, meta */
  metadata: Record<string, unknown> | null;
  name: string | null;
  private_tags: AddressTags;
  /** @enum {string|null} */
  proxy_type: "eip1167" | "eip1967" | "eip1822" | "eip1967_beacon" | "eip1967_oz" | "master_copy" | "eip2535" | "eip897" | "basic_implementation" | "basic_get_implementation" | "comptroller" | "eip7702" | null;
  public_tags: AddressTags;
  /** @enum {string} */
  reputation: "ok" | "scam";
  token: Token | null;
  watchlist_address_id: null;
  watchlist_names: AddressTags;
};

export type AddressTags = {
  address_hash?: string;
  display_name?: string;
  label?: string;
}[];

export type AddressWithdrawal = {
  /** @description wei */
  amount: string;
  block_number: UnsignedInteger;
  index: UnsignedInteger;
  receiver: Address;
  /** Format: date-time */
  timestamp: string;
  validator_index: UnsignedInteger;
};

export type Block = {
  /** @description Arbitrum: its L1 block, number of messages to L1 so far, and what it is on L1 */
  arbitrum?: {
    /** @description Null: L1 is not read */
    batch_number: null;
    commitment_transaction: UnknownL1Transaction;
    confirmation_transaction: UnknownL1Transaction;
    /** Format: int64 */
    l1_block_number: number | null;
    /** Format: int64 */
    send_count: number | null;
    send_root: string | null;
    /** @description Null: L1 is not read */
    status: null;
  };
  /** @description wei */
  base_fee_per_gas: string | null;
  /** @description Wei for blob gas; only of a block that is shown alone, if the schedule of the chain is known */
  blob_gas_price?: string;
  blob_gas_used: string | null;
  /** Format: int64 */
  blob_transactions_count: number | null;
  /** @description Wei that were burnt for blob gas; with `blob_gas_price` */
  burnt_blob_fees?: string;
  /** @description wei */
  burnt_fees: string | null;
  /** @description Null without fees */
  burnt_fees_percentage: number | null;
  /** @description On chains whose blocks have more fields than Ethereum's */
  chain_facts?: ChainFact[];
  difficulty: string | null;
  excess_blob_gas: string | null;
  extra_data: string | null;
  gas_limit: string | null;
  /** @description Null if the source lacks the underlying values */
  gas_target_percentage: number | null;
  gas_used: string | null;
  /** @description Null if the source lacks the underlying values */
  gas_used_percentage: number | null;
  hash: string;
  height: UnsignedInteger;
  /**
   * Format: int64
   * @description Null where call frames are not loaded
   */
  internal_transactions_count: number | null;
  is_pending_update: boolean;
  miner: null | Address;
  /**
   * Format: int64
   * @description Of an uncle the block that names it
   */
  nephew_block_number?: number;
  nonce: string | null;
  parent_hash: string | null;
  /** @description wei */
  priority_fee: string | null;
  /** @description Of proof of work */
  rewards: {
    /** @description Wei: a number if a double represents it exactly, else text */
    reward: number | string;
    /** @enum {string} */
    type: "Miner Reward" | "Uncle Reward";
  }[];
  /**
   * Format: int64
   * @description Bytes
   */
  size: number | null;
  state_root: string | null;
  /** Format: date-time */
  timestamp: string;
  total_difficulty: string | null;
  /** @description wei */
  transaction_fees: string | null;
  /**
   * Format: int64
   * @description Null for an uncle that has transactions, as they are unknown
   */
  transactions_count: number | null;
  /** @enum {string} */
  type: "block" | "uncle" | "reorg";
  uncles_hashes: null | string[];
  /** Format: int64 */
  withdrawals_count: number | null;
};

export type BlockRange = {
  fromBlock: string;
  toBlock: string;
};

export type BlockWithdrawal = {
  /** @description wei */
  amount: string;
  index: UnsignedInteger;
  receiver: Address;
  validator_index: UnsignedInteger;
};

/** @description Value from the source, under a readable name */
export type ChainFact = {
  name: string;
  /** @enum {string} */
  unit: "wei" | "wei_per_gas" | "gas" | "number" | "address" | "hash";
  /** @description Decimal text, or the digits of an address or a hash */
  value: string;
};

export type CoinBalance = {
  block_number: UnsignedInteger;
  /** Format: date-time */
  block_timestamp: string | null;
  /** @description Change by the block in wei, positive or negative */
  delta: string;
  /** @description Always null: balances are only known after whole blocks */
  transaction_hash: null;
  /** @description Wei after the block */
  value: string;
};

export type DecodedInput = {
  /** @description The function with its parameters */
  method_call: string;
  /** @description The first four bytes of its hash */
  method_id: string;
  parameters: {
    name: string;
    type: string;
    value: DecodedValue;
  }[];
};

export type DecodedLog = {
  /** @description The event with its parameters */
  method_call: string;
  /** @description The first four bytes of its hash */
  method_id: string;
  parameters: {
    indexed: boolean;
    "indexed?": boolean;
    name: string;
    type: string;
    value: DecodedValue;
  }[];
};

export type DecodedValue = string | null | DecodedValue[];

export type Implementation = {
  /** @description The same as `address_hash` */
  address?: string;
  address_hash: string;
  name: string | null;
};

export type InternalTransaction = {
  block_number: UnsignedInteger;
  /** @description Of a creation that succeeded */
  created_contract: null | Address;
  /** @description Error of this frame, as the node reports it */
  error: string | null;
  from: Address;
  gas_limit: string;
  /** @description Position in the trace, depth first; the root is 0 */
  index: UnsignedInteger;
  /** @description Whether it, an enclosing frame or its transaction failed, so that its value was returned */
  is_undone: boolean;
  /** @description Whether this frame itself succeeded */
  success: boolean;
  /** Format: date-time */
  timestamp: string;
  /** @description Null for a creation */
  to: null | Address;
  transaction_hash: string;
  /** @description Position of the transaction in its block */
  transaction_index: UnsignedInteger;
  /** @enum {string} */
  type: "call" | "callcode" | "delegatecall" | "staticcall" | "create" | "create2" | "selfdestruct" | "reward";
  /** @description wei */
  value: string;
};

export type ListedOperation = {
  /** @description The wallet */
  address: Address;
  block_number: string;
  entry_point: Address;
  /** @enum {string} */
  entry_point_version: "v0.6" | "v0.7" | "v0.8" | "v0.9";
  /** @description Wei */
  fee: string;
  hash: string;
  /** @description Whether the call of the operation succeeded */
  status: boolean;
  /** Format: date-time */
  timestamp: string;
  transaction_hash: string;
};

export type Log = {
  /** @description Same as address_hash, under the name used by other explorers */
  address: Address;
  /** @description The emitter */
  address_hash: Address;
  block_hash: string;
  block_number: UnsignedInteger;
  /** Format: date-time */
  block_timestamp: string;
  data: string;
  /** @description Null if no known event matches */
  decoded: null | DecodedLog;
  /** @description Position in the block */
  index: UnsignedInteger;
  /** @description The transaction's recipient */
  smart_contract: null | Address;
  topics: string[];
  transaction_hash: string;
};

export type MissingBlocks = {
  missing: BlockRange[];
};

/** @description An address with its balance and number of transactions */
export type RankedAddress = {
  /** @description Wei; null where state is not loaded */
  coin_balance: string | null;
  ens_domain_name: string | null;
  /** @description The address, with the checksum of EIP-55 */
  hash: string;
  /** @description Name of the first implementation */
  implementation_name: string | null;
  /** @description Contracts that a proxy delegates to */
  implementations: Implementation[];
  /** @description Has or had code, or delegates to some (EIP-7702); null where unknown */
  is_contract: boolean | null;
  is_scam: boolean;
  /** @description Null for an account, and where is_contract is */
  is_verified: boolean | null;
  /** @description A tag: slug, name, tagType, ordinal, meta */
  metadata: Record<string, unknown> | null;
  name: string | null;
  private_tags: AddressTags;
  /** @enum {string|null} */
  proxy_type: "eip1167" | "eip1967" | "eip1822" | "eip1967_beacon" | "eip1967_oz" | "master_copy" | "eip2535" | "eip897" | "basic_implementation" | "basic_get_implementation" | "comptroller" | "eip7702" | null;
  public_tags: AddressTags;
  /** @enum {string} */
  reputation: "ok" | "scam";
  /** @description Null where blocks are not all loaded */
  transactions_count: string | null;
  watchlist_names: AddressTags;
};

/** @description Return data of a failed call, decoded if a known error matches; null if empty */
export type RevertReason = null | DecodedInput | {
  raw: string;
};

export type StateChange = {
  address: Address;
  /** @description Wei; null if unknown */
  balance_after: string | null;
  /** @description Wei; null if unknown */
  balance_before: string | null;
  /** @description Wei or units of the token; null if not fully known */
  change: string | null;
  /** @description Whether the account receives the fees of the block */
  is_miner: boolean;
  /** @description Null for coins */
  token: Token | null;
  token_id: string | null;
  /** @enum {string} */
  type: "coin" | "token";
};

export type StateMissing = {
  data: MissingBlocks;
  /** @description Missing parts */
  message: string;
};

export type StorageStats = {
  /** @description Null before the first block is known */
  blocks: {
    /** @description Those of them that the API answers from memory */
    in_memory: UnsignedInteger;
    in_memory_bytes: UnsignedInteger;
    /** Format: int64 */
    newest: number | null;
    /**
     * Format: int64
     * @description The highest block that no reorganisation can change any more
     */
    newest_settled: number | null;
    /** @description Newest blocks that a reorganisation may replace */
    unsettled: UnsignedInteger;
  } | null;
  /** @description The server that answered */
  clickhouse: {
    /**
     * Format: int64
     * @description Allocated memory
     */
    memory_bytes: number | null;
    /** Format: int64 */
    uptime_seconds: number | null;
    version: string | null;
  };
  /** @description Local disks of the server that answered */
  disks: {
    free_bytes: UnsignedInteger;
    name: string;
    total_bytes: UnsignedInteger;
  }[] | null;
  /** @description Tables with rows, the largest first; on a cluster the sum of all shards, one replica of each */
  tables: {
    bytes_on_disk: UnsignedInteger;
    name: string;
    parts: UnsignedInteger;
    /** @description Including deleted rows that are not merged away yet */
    rows: UnsignedInteger;
  }[] | null;
};

export type Token = {
  /** @description Same as address_hash, for older clients */
  address: string;
  /** @description The contract */
  address_hash: string;
  /** @description For a single token: block at which its holders and supply are counted; null if neither is known */
  block_number?: number | null;
  circulating_market_cap: string | null;
  circulating_supply: string | null;
  decimals: string | null;
  exchange_rate: string | null;
  holders: string | null;
  holders_count: string | null;
  icon_url: string | null;
  name: string | null;
  /** @enum {string} */
  reputation: "ok" | "scam";
  symbol: string | null;
  /** @description In the smallest unit */
  total_supply: string | null;
  /** @description Null if its transfers index other parameters than any standard */
  type: ("ERC-20" | "ERC-721" | "ERC-1155") | null;
  volume_24h: string | null;
};

export type TokenBalance = {
  token: Token;
  /** @description Null if the balance is that of all ids */
  token_id: string | null;
  token_instance: null;
  /** @description In the smallest unit; tokens of ERC-721, units over all ids of ERC-1155; null if transfers do not determine it */
  value: string | null;
};

export type TokenHolder = {
  address: Address;
  /** @description Always null: holders are counted by token, not by id */
  token_id: null;
  /** @description In the smallest unit; tokens of ERC-721, units over all ids of ERC-1155 */
  value: string;
};

export type TokenInstance = {
  /** @description The member of the metadata; null in lists */
  animation_url: string | null;
  /** @description The member `external_url` of the metadata, if it is a web address; null in lists */
  external_app_url: string | null;
  id: string;
  /** @description The member `image_url` or `image` of the metadata: the address of a picture, or one as a `data:` URI; null in lists */
  image_url: string | null;
  /** @description Whether there is only one; null if unknown */
  is_unique: boolean | null;
  /** @description Type of a picture that is a `data:` URI; null for others, and in lists */
  media_type: string | null;
  media_url: null;
  /** @description What the contract holds itself, in a `data:` URI of JSON; null where it names a file elsewhere, where state is not loaded, and in lists */
  metadata: Record<string, unknown> | null;
  /** @description Owner; null for ERC-1155, and if transfers do not determine it */
  owner: null | Address;
  thumbnails: null;
  /** @description Null in a collection */
  token: Token | null;
  /** @enum {string} */
  token_type: "ERC-721" | "ERC-1155";
  /** @description Balance of the requested address; null without an address, and if transfers do not determine it */
  value: string | null;
};

export type TokenTransfer = {
  block_hash: string;
  block_number: UnsignedInteger;
  from: Address;
  /** @description Position of the log in its block, shared by the transfers of a batch */
  log_index: UnsignedInteger;
  /** @description Called method: a name, or the first four bytes of the input */
  method: string | null;
  /** Format: date-time */
  timestamp: string;
  to: Address;
  token: Token;
  /**
   * @description Standard of this transfer
   * @enum {string}
   */
  token_type: "ERC-20" | "ERC-721" | "ERC-1155";
  /** @description One form each for ERC-20, ERC-721 and ERC-1155 */
  total: {
    decimals: string | null;
    /** @description In the smallest unit */
    value: string;
  } | {
    token_id: string | null;
    token_instance: null;
  } | {
    decimals: string | null;
    token_id: string | null;
    token_instance: null;
    /** @description In the smallest unit */
    value: string;
  };
  transaction_hash: string;
  /** @enum {string} */
  type: "token_transfer" | "token_minting" | "token_burning" | "token_spawning";
};

export type Transaction = {
  /** @description Arbitrum: gas for L1 and for the chain, their costs, and what it is on L1 */
  arbitrum?: {
    /** @description Null: L1 is not read */
    batch_number: null;
    commitment_transaction: UnknownL1Transaction;
    confirmation_transaction: UnknownL1Transaction;
    /**
     * @description `incoming` for a message from L1; messages to L1 have a list of their own
     * @enum {string|null}
     */
    contains_message: "incoming" | null;
    gas_used_for_l1: string | null;
    gas_used_for_l2: string | null;
    /** @description Of a message from L1 */
    message_related_info: {
      /** @description Null: L1 is not read */
      associated_l1_transaction_hash: null;
      /**
       * Format: int64
       * @description Position in the queue on L1
       */
      message_id: number | null;
      /** @enum {string|null} */
      message_status: "relayed" | null;
    };
    /** @description wei */
    network_fee: string | null;
    /** @description wei */
    poster_fee: string | null;
    /** @description Null: L1 is not read */
    status: null;
  };
  /** @description Null unless type 4 */
  authorization_list: {
    address_hash: string;
    /** @description Signer, recovered from the signature; null if that is invalid */
    authority: string | null;
    /** @description A number, above 2^53 - 1 text; 0 is any chain */
    chain_id: number | string;
    nonce: string;
    r: string;
    s: string;
    /**
     * @description Whether it took effect, or the first reason why not; null where neither is proven
     * @enum {string|null}
     */
    status: "ok" | "invalid_chain_id" | "invalid_signature" | "invalid_nonce" | null;
    v: number;
  }[] | null;
  /** @description Of its block; null before London */
  base_fee_per_gas: string | null;
  blob_gas_price?: string;
  blob_gas_used?: string;
  /** @description Of type 3 only */
  blob_versioned_hashes?: string[];
  block_hash: string;
  block_number: UnsignedInteger;
  burnt_blob_fee?: string;
  /** @description Celo: the token that paid for gas */
  celo?: {
    /** @description Null if it is the chain's coin */
    gas_token: null | Token;
  };
  /** @description On chains whose transactions have more fields than Ethereum's */
  chain_facts?: {
    /** @description The first 100 calls of a transaction that can have several */
    calls: {
      input: string;
      /** @description Null for a creation */
      to: string | null;
      /** @description wei */
      value: string;
    }[] | null;
    /** Format: int64 */
    calls_count: number | null;
    facts: ChainFact[];
    /** @description Parts of `fee` */
    fee: ChainFact[];
    /** @description Name of a type that Ethereum does not have */
    type: string | null;
  };
  /** @description Empty: the time when it was first seen is unknown */
  confirmation_duration: number[];
  /**
   * Format: int64
   * @description Number of blocks from its own to the head
   */
  confirmations: number;
  /** @description Of a creation, successful or not */
  created_contract: null | Address;
  /** @description Called function, by the contract's ABI or a well-known signature; null if none matches */
  decoded_input: null | DecodedInput;
  /** @description Always null */
  exchange_rate: null;
  fee: {
    /**
     * @description `maximum` without a receipt
     * @enum {string}
     */
    type: "actual" | "maximum";
    /** @description wei */
    value: string | null;
  };
  /** @description Always 0 */
  fhe_operations_count: number;
  from: Address;
  /** @description Null if the source did not give it */
  gas_limit: string | null;
  /** @description Wei paid per gas; without a receipt, the signed price */
  gas_price: string | null;
  /** @description Null without a receipt */
  gas_used: string | null;
  /** @description Null in lists */
  has_error_in_internal_transactions: boolean | null;
  hash: string;
  /** @description Always null */
  historic_exchange_rate: null;
  is_pending_update: boolean;
  /** @description OP stack: wei paid for data on L1, part of `fee` */
  l1_fee?: string | null;
  /** @description OP stack before Ecotone: factor of the L1 fee, a decimal fraction */
  l1_fee_scalar?: string | null;
  /** @description OP stack: wei per gas on L1 */
  l1_gas_price?: string | null;
  /** @description OP stack: gas of its data on L1 */
  l1_gas_used?: string | null;
  max_fee_per_blob_gas?: string;
  /** @description EIP-1559 */
  max_fee_per_gas: string | null;
  /** @description EIP-1559 */
  max_priority_fee_per_gas: string | null;
  /** @description Name of the function, or the first four bytes of the input; null for a shorter input */
  method: string | null;
  /**
   * Format: int64
   * @description Null if the source did not give it
   */
  nonce: number | null;
  /** @description OP stack since Isthmus: wei paid to the operator, part of `fee` */
  operator_fee?: string | null;
  /** @description Position in the block */
  position: UnsignedInteger;
  /** @description Wei paid above the base fee */
  priority_fee: string | null;
  /** @description Null if the source did not give it */
  raw_input: string | null;
  /** @description `success`, the error, or `awaiting_internal_transactions` if the error is not loaded */
  result: string | null;
  revert_reason: RevertReason;
  /** @description Scroll: position of the message from L1, and fee for data on L1 */
  scroll?: {
    [key: string]: string | number | null;
  };
  /**
   * @description Null before Byzantium
   * @enum {string|null}
   */
  status: "ok" | "error" | null;
  /** Format: date-time */
  timestamp: string;
  /** @description Null for a creation */
  to: null | Address;
  /** @description Null in lists */
  token_transfers: TokenTransfer[] | null;
  /** @description Whether there are more */
  token_transfers_overflow: boolean | null;
  /** @description Wei burnt */
  transaction_burnt_fee: string | null;
  /** @description Always null */
  transaction_tag: null;
  transaction_types: ("blob_transaction" | "set_code_transaction" | "token_creation" | "contract_creation" | "token_transfer" | "contract_call" | "coin_transfer")[];
  /**
   * Format: int64
   * @description EIP-2718; null if the source did not give it
   */
  type: number | null;
  /** @description wei; null if the source did not give it */
  value: string | null;
};

/** @description A transaction on L1, which is not read */
export type UnknownL1Transaction = {
  hash: null;
  status: null;
  timestamp: null;
};

/** Format: int64 */
export type UnsignedInteger = number;

export type UserOperation = {
  aggregator: string | null;
  aggregator_signature: string | null;
  block_hash: string;
  block_number: string;
  /** Format: int64 */
  bundle_index: number;
  /** @description Beneficiary of the bundle */
  bundler: Address | null;
  call_data: string | null;
  call_gas_limit: string | null;
  consensus: boolean;
  decoded_call_data: null | DecodedInput;
  decoded_execute_call_data: null | DecodedInput;
  entry_point: Address;
  /** @enum {string} */
  entry_point_version: "v0.6" | "v0.7" | "v0.8" | "v0.9";
  execute_call_data: string | null;
  /** @description Address that the wallet calls */
  execute_target: Address | null;
  /** @description Factory of the wallet */
  factory: Address | null;
  fee: string;
  gas: string | null;
  gas_price: string;
  gas_used: string;
  hash: string;
  /** Format: int64 */
  index: number;
  max_fee_per_gas: string | null;
  max_priority_fee_per_gas: string | null;
  nonce: string;
  /** @description Paymaster */
  paymaster: Address | null;
  pre_verification_gas: string | null;
  /** @description As in the input of the EntryPoint of its version; null if the input of the bundle is unknown */
  raw: Record<string, unknown> | null;
  revert_reason: string | null;
  sender: Address;
  signature: string | null;
  /** @enum {string} */
  sponsor_type: "wallet_balance" | "wallet_deposit" | "paymaster_sponsor" | "paymaster_hybrid";
  status: boolean;
  /** Format: date-time */
  timestamp: string;
  transaction_hash: string;
  /** Format: int64 */
  user_logs_count: number;
  /** Format: int64 */
  user_logs_start_index: number;
  verification_gas_limit: string | null;
};
