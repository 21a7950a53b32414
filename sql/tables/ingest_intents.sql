-- ingest_intents: one row per range that a run is about to write. An intent without its commit marks rows to remove.
-- Read by: trawl-ingest when it starts.
-- Order:   run, then first block.
-- Written: first of a batch; removed when an interrupted batch has been cleaned up.
CREATE TABLE IF NOT EXISTS ingest_intents
(
    run         String               COMMENT 'run of trawl-ingest that is writing' CODEC(ZSTD(1)),
    first_block UInt64               COMMENT 'first block of the range' CODEC(Delta, ZSTD(1)),
    last_block  UInt64               COMMENT 'last block of the range, inclusive' CODEC(Delta, ZSTD(1)),
    started_at  DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time when it started' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (run, first_block)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'ranges of blocks that are being written';
