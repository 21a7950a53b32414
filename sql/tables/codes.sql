-- codes: the bytes of a code, once per block and code that appears.
-- Read by: state at a block, by code_history.code_hash.
-- Order:   hash.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS codes
(
    code_hash    FixedString(32) COMMENT 'Keccak-256 of the code' CODEC(ZSTD(1)),
    block_number UInt64          COMMENT 'height of a block after which an account has this code' CODEC(Delta, ZSTD(1)),
    code         String          COMMENT 'the code; raw bytes' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (code_hash, block_number)
SETTINGS
    index_granularity = 16,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'contract code by its hash';
