-- transactions_by_hash: where a transaction is. Eight bytes of the hash find a few candidates; the whole hash is compared in transactions.
-- Read by: every lookup by transaction hash.
-- Order:   the first eight bytes of the hash, as a number; about 11 bytes a transaction on disk.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS transactions_by_hash
(
    hash_prefix       UInt64 COMMENT 'first eight bytes of the transaction hash, big-endian' CODEC(Delta, ZSTD(1)),
    block_number      UInt64 COMMENT 'height of its block' CODEC(ZSTD(1)),
    transaction_index UInt32 COMMENT 'position in the block, 0-based' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (hash_prefix, block_number, transaction_index)
SETTINGS
    index_granularity = 512,
    min_compress_block_size = 8192,
    max_compress_block_size = 16384,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'positions of transactions, by hash';
