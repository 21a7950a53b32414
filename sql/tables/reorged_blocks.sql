-- reorged_blocks: blocks that were canonical once, until another branch orphaned them. The columns of `blocks`.
-- Read by: block list with type=reorg, block withdrawals by hash.
-- Order:   height, then hash, which together are a cursor.
-- Written: by `trawl-ingest follow` before it moves to another branch. A block may be here twice; one that is
--          canonical again leaves at the latest when it is settled, until then readers compare with the newest blocks.
CREATE TABLE IF NOT EXISTS reorged_blocks
(
    block_number             UInt64                   COMMENT 'height; genesis is 0' CODEC(Delta, ZSTD(1)),
    hash                     FixedString(32)          COMMENT 'block hash; raw bytes, show with hex()' CODEC(ZSTD(1)),
    parent_hash              FixedString(32)          COMMENT 'hash of the parent block' CODEC(ZSTD(1)),
    timestamp                DateTime64(6, 'UTC')     COMMENT 'header timestamp; whole seconds on Ethereum' CODEC(Delta, ZSTD(1)),
    sha3_uncles              FixedString(32)          COMMENT 'hash of the list of uncle headers' CODEC(ZSTD(1)),
    miner                    FixedString(20)          COMMENT 'beneficiary of the header' CODEC(ZSTD(1)),
    producer                 FixedString(20)          COMMENT 'block producer: miner, or the signer of the header on chains that leave miner empty (Polygon)' CODEC(ZSTD(1)),
    state_root               FixedString(32)          COMMENT 'root of the state trie after the block' CODEC(ZSTD(1)),
    transactions_root        FixedString(32)          COMMENT 'root of the transactions trie' CODEC(ZSTD(1)),
    receipts_root            FixedString(32)          COMMENT 'root of the receipts trie' CODEC(ZSTD(1)),
    logs_bloom               FixedString(256)         COMMENT 'bloom filter over log addresses and topics' CODEC(ZSTD(1)),
    difficulty               UInt256                  COMMENT 'proof-of-work difficulty; 0 after the merge' CODEC(ZSTD(1)),
    total_difficulty         Nullable(UInt256)        COMMENT 'sum of difficulties up to this block; NULL if the source did not give it' CODEC(ZSTD(1)),
    gas_limit                UInt64                   COMMENT 'gas limit of the block' CODEC(ZSTD(1)),
    gas_used                 UInt64                   COMMENT 'gas used by the block' CODEC(ZSTD(1)),
    extra_data               String                   COMMENT 'extra data of the header; raw bytes' CODEC(ZSTD(1)),
    mix_hash                 Nullable(FixedString(32))          COMMENT 'proof-of-work mix hash, the randomness beacon after the merge; NULL on chains with other seals' CODEC(ZSTD(1)),
    nonce                    Nullable(FixedString(8))           COMMENT 'proof-of-work nonce, zero after the merge; NULL on chains with other seals' CODEC(ZSTD(1)),
    base_fee_per_gas         Nullable(UInt256)        COMMENT 'wei, EIP-1559; NULL before London' CODEC(ZSTD(1)),
    withdrawals_root         Nullable(FixedString(32)) COMMENT 'root of the withdrawals trie, EIP-4895; NULL before Shanghai' CODEC(ZSTD(1)),
    blob_gas_used            Nullable(UInt64)         COMMENT 'blob gas of the block, EIP-4844; NULL before Cancun' CODEC(ZSTD(1)),
    excess_blob_gas          Nullable(UInt64)         COMMENT 'running excess of blob gas, EIP-4844; NULL before Cancun' CODEC(ZSTD(1)),
    parent_beacon_block_root Nullable(FixedString(32)) COMMENT 'root of the parent beacon block, EIP-4788; NULL before Cancun' CODEC(ZSTD(1)),
    requests_hash            Nullable(FixedString(32)) COMMENT 'hash of the execution requests, EIP-7685; NULL before Prague' CODEC(ZSTD(1)),
    size                     Nullable(UInt64)         COMMENT 'bytes of the RLP-encoded block, as the source gave it' CODEC(ZSTD(1)),
    uncles                   Array(FixedString(32))   COMMENT 'hashes of the uncle headers, in order' CODEC(ZSTD(1)),
    transactions_count       UInt32                   COMMENT 'transactions in the block' CODEC(ZSTD(1)),
    blob_transactions_count  UInt32                   COMMENT 'transactions of type 3 among them' CODEC(ZSTD(1)),
    withdrawals_count        UInt32                   COMMENT 'withdrawals in the block' CODEC(ZSTD(1)),
    logs_count               Nullable(UInt32)         COMMENT 'logs in the block; NULL if the source had no receipts' CODEC(ZSTD(1)),
    transaction_fees         Nullable(UInt256)        COMMENT 'wei that transactions paid: gas used times effective gas price, and the L1 and operator fees of rollups; NULL if the source had no receipts' CODEC(ZSTD(1)),
    priority_fees            Nullable(UInt256)        COMMENT 'wei: the part of transaction_fees above the base fee, 0 before London; NULL if the source had no receipts' CODEC(ZSTD(1)),
    burnt_fees               Nullable(UInt256)        COMMENT 'wei of transaction_fees that were burnt, 0 before London; NULL if unknown' CODEC(ZSTD(1)),
    extra_fields             String                   COMMENT 'JSON object of the block fields without a column, on chains other than Ethereum' CODEC(ZSTD(1)),
    lacking                  Array(LowCardinality(String)) COMMENT 'columns that the source did not have; ignore their values here' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (block_number, hash)
SETTINGS
    index_granularity = 128,
    min_compress_block_size = 16384,
    max_compress_block_size = 65536,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'orphaned blocks, by height';
