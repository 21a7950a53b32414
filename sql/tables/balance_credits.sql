-- balance_credits: wei that a block adds to accounts outside its transactions.
-- Read by: state at a block: what came at or after the last row of balance_history is added to it.
-- Order:   account, then height.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS balance_credits
(
    address      FixedString(20)        COMMENT 'recipient' CODEC(LZ4),
    block_number UInt64                 COMMENT 'height of the block' CODEC(LZ4),
    reason       LowCardinality(String) COMMENT 'withdrawal, block reward or uncle reward' CODEC(LZ4),
    amount       UInt256                COMMENT 'wei; the sum of all credits of this kind in the block' CODEC(LZ4)
)
ENGINE = MergeTree
ORDER BY (address, block_number)
SETTINGS
    index_granularity = 256,
    min_compress_block_size = 8192,
    max_compress_block_size = 16384,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'credits outside transactions';
