-- code_history: an accounts code after a block that changed it.
-- Read by: state at a block: the last row at or below it counts.
-- Order:   account, then height, in small granules for batches of point lookups.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS code_history
(
    address      FixedString(20) COMMENT 'the account' CODEC(LZ4),
    block_number UInt64          COMMENT 'height of the block' CODEC(LZ4),
    code_hash    FixedString(32) COMMENT 'Keccak-256 of the code; of the empty string if the code was removed' CODEC(LZ4)
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
COMMENT 'code over time';
