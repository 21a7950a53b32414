-- transactions: one row per transaction with the outcome from its receipt; logs are in tables of their own.
-- Read by: eth_getBlockBy*, eth_getTransactionByHash and eth_getTransactionReceipt (through transactions_by_hash).
-- Order:   chain position.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS transactions
(
    block_number             UInt64                    COMMENT 'height of its block' CODEC(LZ4),
    transaction_index        UInt32                    COMMENT 'position in the block, 0-based' CODEC(Delta, ZSTD(1)),
    hash                     FixedString(32)           COMMENT 'transaction hash; raw bytes, show with hex()' CODEC(ZSTD(1)),
    block_hash               FixedString(32)           COMMENT 'hash of its block' CODEC(ZSTD(1)),
    block_timestamp          DateTime64(6, 'UTC')      COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    transaction_type         UInt8                     COMMENT 'EIP-2718 type: 0 legacy, 1 access list, 2 dynamic fee, 3 blob, 4 set code, others raw' CODEC(ZSTD(1)),
    from_address             FixedString(20)           COMMENT 'sender' CODEC(ZSTD(1)),
    to_address               Nullable(FixedString(20)) COMMENT 'recipient; NULL for a contract creation' CODEC(ZSTD(1)),
    nonce                    UInt64                    COMMENT 'sender''s count of transactions before this one' CODEC(ZSTD(1)),
    value                    UInt256                   COMMENT 'wei sent' CODEC(ZSTD(1)),
    gas_limit                UInt64                    COMMENT 'gas limit of the transaction' CODEC(ZSTD(1)),
    gas_price                Nullable(UInt256)         COMMENT 'wei: signed price of types 0 and 1, effective price of the others' CODEC(ZSTD(1)),
    max_fee_per_gas          Nullable(UInt256)         COMMENT 'wei, EIP-1559; NULL for types 0 and 1' CODEC(ZSTD(1)),
    max_priority_fee_per_gas Nullable(UInt256)         COMMENT 'wei, EIP-1559; NULL for types 0 and 1' CODEC(ZSTD(1)),
    max_fee_per_blob_gas     Nullable(UInt256)         COMMENT 'wei, EIP-4844; NULL unless type 3' CODEC(ZSTD(1)),
    input                    String                    COMMENT 'call data or init code; raw bytes' CODEC(ZSTD(1)),
    chain_id                 Nullable(UInt64)          COMMENT 'chain it is signed for; NULL for legacy ones without replay protection (EIP-155)' CODEC(ZSTD(1)),
    access_list              Array(Tuple(address FixedString(20), storage_keys Array(FixedString(32)))) COMMENT 'EIP-2930' CODEC(ZSTD(1)),
    blob_versioned_hashes    Array(FixedString(32))    COMMENT 'EIP-4844' CODEC(ZSTD(1)),
    authorization_list       Array(Tuple(chain_id UInt256, address FixedString(20), nonce UInt64, y_parity UInt8, r UInt256, s UInt256)) COMMENT 'EIP-7702' CODEC(ZSTD(1)),
    v                        UInt256                   COMMENT 'signature: v of legacy transactions, parity of the others' CODEC(ZSTD(1)),
    r                        UInt256                   COMMENT 'signature' CODEC(ZSTD(1)),
    s                        UInt256                   COMMENT 'signature' CODEC(ZSTD(1)),
    has_receipt              UInt8                     COMMENT '1 if the source had the receipt; if 0, ignore the columns below' CODEC(ZSTD(1)),
    status                   Nullable(UInt8)           COMMENT '1 success, 0 failure; NULL before Byzantium (EIP-658)' CODEC(ZSTD(1)),
    post_state_root          Nullable(FixedString(32)) COMMENT 'state root after the transaction; NULL from Byzantium on' CODEC(ZSTD(1)),
    gas_used                 UInt64                    COMMENT 'gas used' CODEC(ZSTD(1)),
    cumulative_gas_used      UInt64                    COMMENT 'gas used in the block up to and including it' CODEC(ZSTD(1)),
    effective_gas_price      UInt256                   COMMENT 'wei paid per gas' CODEC(ZSTD(1)),
    contract_address         Nullable(FixedString(20)) COMMENT 'contract it created, successful or not; NULL for calls' CODEC(ZSTD(1)),
    blob_gas_used            Nullable(UInt64)          COMMENT 'EIP-4844; NULL unless type 3' CODEC(ZSTD(1)),
    blob_gas_price           Nullable(UInt256)         COMMENT 'wei per blob gas, EIP-4844; NULL unless type 3' CODEC(ZSTD(1)),
    logs_count               UInt32                    COMMENT 'logs it emitted' CODEC(ZSTD(1)),
    raw_transaction          String                    COMMENT 'JSON as the source gave it, for types above 4 only' CODEC(ZSTD(1)),
    raw_receipt              String                    COMMENT 'JSON as the source gave it without logs, for types above 4 only' CODEC(ZSTD(1)),
    l1_fee                   Nullable(UInt256)         COMMENT 'fee for data on L1 in wei, besides gas; NULL on chains without such a fee' CODEC(ZSTD(1)),
    operator_fee             Nullable(UInt256)         COMMENT 'operator fee of a rollup in wei, besides gas; NULL on chains without such a fee' CODEC(ZSTD(1)),
    extra_fields             String                    COMMENT 'JSON object of the transaction fields without a column, for types 0 to 4' CODEC(ZSTD(1)),
    receipt_extra_fields     String                    COMMENT 'JSON object of the receipt fields without a column, for types 0 to 4' CODEC(ZSTD(1)),
    lacking                  Array(LowCardinality(String)) COMMENT 'columns that the source did not have; ignore their values here' CODEC(ZSTD(1)),
    INDEX time block_timestamp TYPE minmax GRANULARITY 1,
    INDEX types (transaction_type, transaction_index > 0) TYPE set(16) GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (block_number, transaction_index)
SETTINGS
    index_granularity = 512,
    min_compress_block_size = 16384,
    max_compress_block_size = 65536,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'transactions and their outcomes, by chain position';
