-- uncles: headers of blocks that lost and are referenced by a block that won.
-- Read by: block list with type=uncle.
-- Order:   the uncle's own height, then its hash, which together are a cursor.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of the nephew's range exists.
CREATE TABLE IF NOT EXISTS uncles
(
    block_number        UInt64               COMMENT 'height of the uncle itself' CODEC(Delta, ZSTD(1)),
    hash                FixedString(32)      COMMENT 'hash of the uncle; raw bytes, show with hex()' CODEC(ZSTD(1)),
    nephew_block_number UInt64               COMMENT 'height of the block that references it' CODEC(Delta, ZSTD(1)),
    uncle_index         UInt32               COMMENT 'position among the uncles of that block, 0-based' CODEC(ZSTD(1)),
    parent_hash         FixedString(32)      COMMENT 'hash of its parent block' CODEC(ZSTD(1)),
    timestamp           DateTime64(6, 'UTC') COMMENT 'header timestamp' CODEC(Delta, ZSTD(1)),
    sha3_uncles         FixedString(32)      COMMENT 'hash of its own list of uncle headers' CODEC(ZSTD(1)),
    miner               FixedString(20)      COMMENT 'beneficiary of the header' CODEC(ZSTD(1)),
    state_root          FixedString(32)      COMMENT 'root of the state trie after it' CODEC(ZSTD(1)),
    transactions_root   FixedString(32)      COMMENT 'root of its transactions trie; its transactions are not stored' CODEC(ZSTD(1)),
    receipts_root       FixedString(32)      COMMENT 'root of its receipts trie' CODEC(ZSTD(1)),
    logs_bloom          FixedString(256)     COMMENT 'bloom filter over its log addresses and topics' CODEC(ZSTD(1)),
    difficulty          UInt256              COMMENT 'proof-of-work difficulty' CODEC(ZSTD(1)),
    gas_limit           UInt64               COMMENT 'gas limit of the uncle' CODEC(ZSTD(1)),
    gas_used            UInt64               COMMENT 'gas used' CODEC(ZSTD(1)),
    extra_data          String               COMMENT 'extra data of the header; raw bytes' CODEC(ZSTD(1)),
    mix_hash            Nullable(FixedString(32))      COMMENT 'proof-of-work mix hash' CODEC(ZSTD(1)),
    nonce               Nullable(FixedString(8))       COMMENT 'proof-of-work nonce' CODEC(ZSTD(1)),
    base_fee_per_gas    Nullable(UInt256)    COMMENT 'wei, EIP-1559; NULL before London' CODEC(ZSTD(1)),
    size                Nullable(UInt64)     COMMENT 'bytes as the source gave it, usually of the header alone' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (block_number, hash, nephew_block_number)
SETTINGS
    index_granularity = 128,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'headers of uncles, by their height';
