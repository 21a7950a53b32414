-- logs: one row per event log, by contract.
-- Read by: eth_getLogs with one or a few addresses.
-- Order:   address first, since most filters name one; then chain position, which is also the cursor.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS logs
(
    address           FixedString(20)     COMMENT 'emitting contract; raw bytes, show with hex()' CODEC(LZ4),
    block_number      UInt64              COMMENT 'height of its block' CODEC(Delta, LZ4),
    log_index         UInt32              COMMENT 'position in the block, 0-based' CODEC(Delta, LZ4),
    transaction_index UInt32              COMMENT 'position of its transaction in the block, 0-based' CODEC(Delta, LZ4),
    transaction_hash  FixedString(32)     COMMENT 'hash of its transaction' CODEC(LZ4),
    block_hash        FixedString(32)     COMMENT 'hash of its block' CODEC(LZ4),
    block_timestamp   DateTime64(6, 'UTC') COMMENT 'timestamp of its block' CODEC(Delta, LZ4),
    topics_count      UInt8               COMMENT 'number of topics, 0 to 4' CODEC(LZ4),
    topic0            FixedString(32)     COMMENT 'first topic, the event signature hash unless anonymous; zero if absent' CODEC(LZ4),
    topic1            FixedString(32)     COMMENT 'second topic; zero if absent' CODEC(LZ4),
    topic2            FixedString(32)     COMMENT 'third topic; zero if absent' CODEC(LZ4),
    topic3            FixedString(32)     COMMENT 'fourth topic; zero if absent' CODEC(LZ4),
    data              String              COMMENT 'unindexed arguments; raw bytes' CODEC(LZ4),
    INDEX bloom_topic0 topic0 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX bloom_topic1 topic1 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX bloom_topic2 topic2 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX bloom_topic3 topic3 TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX time block_timestamp TYPE minmax GRANULARITY 1,
    INDEX address_text concat('0x', lower(hex(address))) TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (address, block_number, log_index)
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
COMMENT 'event logs, ordered for filters by address';
