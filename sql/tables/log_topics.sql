-- log_topics: one row per topic of a log, by topic: where the logs with a topic lie.
-- Read by: eth_getLogs and scans with topics and without a contract; the rows themselves are fetched from logs_by_block.
-- Order:   topic and its position first, then chain position, which is also the cursor.
-- Written: by the view log_topics_from_logs, whenever rows are inserted into logs_by_block. A row may be there twice.
--          Left out by `trawl-ingest migrate --without log_topics`; left_out_tables says so.
CREATE TABLE IF NOT EXISTS log_topics
(
    topic          FixedString(32) COMMENT 'the topic; raw bytes, show with hex()' CODEC(ZSTD(1)),
    topic_position UInt8           COMMENT 'its position in the log, 0 to 3' CODEC(ZSTD(1)),
    block_number   UInt64          COMMENT 'height of the block of the log' CODEC(Delta, ZSTD(1)),
    log_index      UInt32          COMMENT 'position of the log in the block, 0-based' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (topic, topic_position, block_number, log_index)
SETTINGS
    index_granularity = 1024,
    min_compress_block_size = 16384,
    max_compress_block_size = 65536,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'positions of logs, by topic';
