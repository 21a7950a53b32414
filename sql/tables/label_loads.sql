-- label_loads: one row per run of `trawl-ingest labels`, written when everything of the run is there.
-- Read by: trawl-api, which follows how many there are; analysts, who leave out what has no row here.
-- Order:   generation, which grows from run to run.
-- Written: last in each run, once; append-only.
CREATE TABLE IF NOT EXISTS label_loads
(
    generation  UInt64               COMMENT 'number of the load, which the rows that it wrote have as generation' CODEC(Delta, ZSTD(1)),
    loaded_at   DateTime64(6, 'UTC') COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1)),
    run         String               COMMENT 'run of trawl-ingest that wrote it' CODEC(ZSTD(1)),
    sources     Array(String)        COMMENT 'files that it was read from' CODEC(ZSTD(1)),
    labels      UInt64               COMMENT 'rows it added to address_labels' CODEC(ZSTD(1)),
    abi_entries UInt64               COMMENT 'rows it added to contract_abis' CODEC(ZSTD(1)),
    signatures  UInt64               COMMENT 'rows it added to event_signatures and function_signatures' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY generation
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'completed loads of labels, ABIs and signatures';
