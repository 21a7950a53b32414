-- function_signatures: functions that transactions may call, whichever contract.
-- Read by: names of methods of contracts without an ABI; analysts, who join it to the first four bytes of inputs.
-- Order:   selector, which is what inputs begin with.
-- Written: by trawl-ingest labels, only what is new; by trawl-ingest migrate the bundled ones (sql/signatures/functions.txt); append-only.
CREATE TABLE IF NOT EXISTS function_signatures
(
    selector   FixedString(4)       COMMENT 'first four bytes of the Keccak-256 of name and types; several functions may share it' CODEC(ZSTD(1)),
    signature  String               COMMENT 'the function with names of parameters as far as its source gave them, for example transfer(address to, uint256 amount)' CODEC(ZSTD(1)),
    generation UInt64               COMMENT 'the row of label_loads this belongs to; without such a row it does not count, but for 0: that is bundled with trawl, and what was loaded counts before it' CODEC(Delta, ZSTD(1)),
    source     String               COMMENT 'file it was read from; bundled for what is bundled with trawl' CODEC(ZSTD(1)),
    loaded_at  DateTime64(6, 'UTC') COMMENT 'when it was loaded' CODEC(Delta, ZSTD(1))
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
COMMENT 'functions by the selector that inputs begin with';
