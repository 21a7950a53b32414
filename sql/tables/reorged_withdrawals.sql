-- reorged_withdrawals: withdrawals of reorged_blocks. The columns of `withdrawals`, and the hash of the lost block.
-- Read by: block withdrawals by hash.
-- Order:   block hash, then the running number.
-- Written: with reorged_blocks; a row may be here twice.
CREATE TABLE IF NOT EXISTS reorged_withdrawals
(
    block_hash       FixedString(32)      COMMENT 'hash of the lost block; raw bytes, show with hex()' CODEC(ZSTD(1)),
    address          FixedString(20)      COMMENT 'recipient of the amount; raw bytes, show with hex()' CODEC(ZSTD(1)),
    withdrawal_index UInt64               COMMENT 'running number over all blocks' CODEC(Delta, ZSTD(1)),
    block_number     UInt64               COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    block_timestamp  DateTime64(6, 'UTC') COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    validator_index  UInt64               COMMENT 'validator the amount comes from' CODEC(ZSTD(1)),
    amount           UInt256              COMMENT 'wei (the beacon chain counts in gwei)' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (block_hash, withdrawal_index)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'withdrawals of orphaned blocks';
