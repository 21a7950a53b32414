-- withdrawals_by_block: the same rows as withdrawals, by block.
-- Read by: block withdrawals, eth_getBlockBy*.
-- Order:   height, then the running number, which is also the cursor.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS withdrawals_by_block
(
    address          FixedString(20)      COMMENT 'recipient of the amount; raw bytes, show with hex()' CODEC(ZSTD(1)),
    withdrawal_index UInt64               COMMENT 'running number over all blocks' CODEC(Delta, ZSTD(1)),
    block_number     UInt64               COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    block_timestamp  DateTime64(6, 'UTC') COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    validator_index  UInt64               COMMENT 'validator the amount comes from' CODEC(ZSTD(1)),
    amount           UInt256              COMMENT 'wei (the beacon chain counts in gwei)' CODEC(ZSTD(1)),
    INDEX time block_timestamp TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (block_number, withdrawal_index)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'validator withdrawals, by block';
