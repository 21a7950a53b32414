-- logs_by_topic: one row per topic of a log that may hold an address, by that topic.
-- Read by: eth_getLogs and scans with such a topic and without a contract: what an account took part in.
-- Order:   topic and its position first, then chain position, which is also the cursor.
-- Written: by the view logs_by_topic_from_logs, whenever rows are inserted into logs_by_block. A row may be there twice.
--          Not made unless `trawl-ingest migrate --with logs_by_topic` asks for it; left_out_tables says so.
CREATE TABLE IF NOT EXISTS logs_by_topic
(
    topic             FixedString(32)     COMMENT 'topic 1 to 3: twelve zero bytes, then an address; raw bytes, show with hex()' CODEC(ZSTD(1)),
    topic_position    UInt8               COMMENT 'position of the topic in the log, 1 to 3' CODEC(ZSTD(1)),
    block_number      UInt64              COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    log_index         UInt32              COMMENT 'position in the block, 0-based' CODEC(Delta, ZSTD(1)),
    address           FixedString(20)     COMMENT 'emitting contract; raw bytes, show with hex()' CODEC(ZSTD(1)),
    transaction_index UInt32              COMMENT 'position of its transaction in the block, 0-based' CODEC(Delta, ZSTD(1)),
    transaction_hash  FixedString(32)     COMMENT 'hash of its transaction' CODEC(LZ4),
    block_hash        FixedString(32)     COMMENT 'hash of its block' CODEC(LZ4),
    block_timestamp   DateTime64(6, 'UTC') COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    topics_count      UInt8               COMMENT 'number of topics, 2 to 4' CODEC(ZSTD(1)),
    topic0            FixedString(32)     COMMENT 'first topic, the event signature hash unless anonymous' CODEC(ZSTD(1)),
    topic1            FixedString(32)     COMMENT 'second topic' CODEC(ZSTD(1)),
    topic2            FixedString(32)     COMMENT 'third topic; zero if absent' CODEC(ZSTD(1)),
    topic3            FixedString(32)     COMMENT 'fourth topic; zero if absent' CODEC(ZSTD(1)),
    data              String              COMMENT 'unindexed arguments; raw bytes' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (topic, topic_position, block_number, log_index)
SETTINGS
    index_granularity = 1024,
    min_compress_block_size = 32768,
    max_compress_block_size = 131072,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'event logs under each topic that may hold an address, ordered by topic';
