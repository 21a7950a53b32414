-- follow_reports: what `trawl-ingest follow` says of itself every two seconds: how far the node is, what readers see, and what is wrong.
-- Read by: the API (health, metrics), trawl-ingest status, analysts.
-- Order:   time.
-- Written: one row at each report, and one when follow ends; never changed, dropped by the engine a day later.
-- Merged:  some thirty rows at a time and up to 1 MiB, as one comes every few seconds for ever.
CREATE TABLE IF NOT EXISTS follow_reports
(
    at              DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time, by the clock of ClickHouse' CODEC(Delta, ZSTD(1)),
    run             String                 COMMENT 'run of trawl-ingest that wrote the report' CODEC(ZSTD(1)),
    event           LowCardinality(String) COMMENT 'alive: it is running; ended: it was stopped' CODEC(ZSTD(1)),
    interval_ms     UInt64                 COMMENT 'milliseconds between two reports' CODEC(ZSTD(1)),
    node_block      Nullable(UInt64)       COMMENT 'newest block of the nodes; NULL until one has answered' CODEC(ZSTD(1)),
    node_silence_ms UInt64                 COMMENT 'milliseconds since a node answered' CODEC(ZSTD(1)),
    head_block      Nullable(UInt64)       COMMENT 'newest block that readers see; NULL if there is none' CODEC(ZSTD(1)),
    head_age_ms     UInt64                 COMMENT 'milliseconds since readers first saw this block as the newest, across restarts of follow; since its first start if no newer block has come' CODEC(ZSTD(1)),
    problems        Array(Tuple(kind String, detail String, age_ms UInt64)) COMMENT 'current problems: kind, description, and milliseconds since it began' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY at
TTL toDateTime(at) + INTERVAL 1 DAY
SETTINGS
    min_parts_to_merge_at_once = 32,
    max_bytes_to_merge_at_max_space_in_pool = 1048576,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'status of trawl-ingest follow';
