-- ingest_leases: what runs of trawl-ingest said about their right to write. One run at a time may write a database, or, where
--                the name of the lease ends with blocks and a chain (RUN/ATTEMPT/FIRST-LAST/CHAIN), these blocks.
-- Read by: trawl-ingest before it writes and while it does.
-- Order:   lease, then time.
-- Written: one row when a lease is claimed, every few seconds while it is held, and when it ends; never changed,
--          dropped by the engine a week later.
-- Names:   `place` is the process namespace of a machine since its boot. The column keeps its name: a migration only adds,
--          and programs of two releases may say of each other whether they live.
-- Merged:  some thirty rows at a time and up to 1 MiB, as one comes every few seconds for ever.
CREATE TABLE IF NOT EXISTS ingest_leases
(
    lease   String                 COMMENT 'the lease: a run and the number of its attempt' CODEC(ZSTD(1)),
    event   LowCardinality(String) COMMENT 'claimed, alive: written by its holder; released: by its holder, at the end; fenced: revoked because the holder is gone' CODEC(ZSTD(1)),
    host    String                 COMMENT 'host name of the holder' CODEC(ZSTD(1)),
    place   String                 COMMENT 'scope of process ids: a boot and a process namespace of a machine' CODEC(ZSTD(1)),
    process String                 COMMENT 'process id and start time of the holder' CODEC(ZSTD(1)),
    at      DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time, by the clock of ClickHouse' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (lease, at)
TTL toDateTime(at) + INTERVAL 7 DAY
SETTINGS
    min_parts_to_merge_at_once = 32,
    max_bytes_to_merge_at_max_space_in_pool = 1048576,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'leases of the runs of trawl-ingest that may write';
