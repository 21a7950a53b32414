-- schema_migrations: which steps of the schema this database has.
-- Read by: trawl-ingest migrate, and every program before it trusts the tables.
-- Order:   version.
-- Written: one row after each step.
CREATE TABLE IF NOT EXISTS schema_migrations
(
    version    UInt32               COMMENT 'number of the migration file',
    name       String               COMMENT 'name of the migration file',
    checksum   String               COMMENT 'Keccak-256 of its text, in hexadecimal digits',
    applied_at DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time when it was applied'
)
ENGINE = MergeTree
ORDER BY version
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'applied migrations of the schema';
