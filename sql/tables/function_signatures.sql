-- function_signatures: functions that transactions may call, whichever contract.
-- Read by: names of methods of contracts without an ABI; analysts, who join it to the first four bytes of inputs.
-- Order:   selector, which is what inputs begin with.
-- Written: by trawl-ingest labels, only what is new; by trawl-ingest migrate the bundled ones (sql/signatures/functions.txt); append-only.
CREATE TABLE IF NOT EXISTS function_signatures
(
    selector   FixedString(4)       COMMENT 'first four bytes of the Keccak-256 of name and types; several functions may share it' CODEC(ZSTD(1)),
    signature  String               COMMENT 'the function, with parameter names if the source gave them, for example transfer(address to, uint256 amount)' CODEC(ZSTD(1)),
    generation UInt64               COMMENT 'row of label_loads that it belongs to; ignored if there is no such row. 0: bundled with Trawl, and loaded signatures take precedence' CODEC(Delta, ZSTD(1)),
    source     String               COMMENT 'file that it was read from; `bundled` if bundled with Trawl' CODEC(ZSTD(1)),
    loaded_at  DateTime64(6, 'UTC') COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (selector, signature)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'functions, by the selector that call data begins with';
