-- proxy_implementations: where a contract forwards its calls to, from the block on that says so.
-- Read by: wherever an address is shown; decoding of calls and logs. The newest row of a contract and kind counts.
-- Order:   contract, then height.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS proxy_implementations
(
    address        FixedString(20)        COMMENT 'the contract, or the account that delegates' CODEC(ZSTD(1)),
    block_number   UInt64                 COMMENT 'height of the block that changed it' CODEC(Delta, ZSTD(1)),
    kind           LowCardinality(String) COMMENT 'eip1167, eip1967, eip1822, eip1967_beacon or eip7702' CODEC(ZSTD(1)),
    implementation FixedString(20)        COMMENT 'contract that executes its calls, the beacon for eip1967_beacon; zero if it was removed' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (address, block_number)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'implementations of proxies';
