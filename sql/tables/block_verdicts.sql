-- block_verdicts: one row per verification of a block: which checks ran, which could not, and what came of it.
-- Read by: analysts, who join it on block_number; trawl-ingest status and verify.
-- Order:   height, then time.
-- Written: with the block by load, one more row each time trawl-ingest verify proves it again; never changed.
CREATE TABLE IF NOT EXISTS block_verdicts
(
    block_number  UInt64                                    COMMENT 'height of the block' CODEC(Delta, ZSTD(1)),
    block_hash    FixedString(32)                           COMMENT 'hash that the source gave' CODEC(ZSTD(1)),
    verdict       LowCardinality(String)                    COMMENT 'verified: all applicable checks ran and passed; partial: the checks that ran passed, not_checkable has the others; refused: a check failed, and the block is not readable; unverified: checks were turned off' CODEC(ZSTD(1)),
    checked       Array(LowCardinality(String))             COMMENT 'names of the checks that ran and passed' CODEC(ZSTD(1)),
    not_checkable Array(Tuple(check String, reason String)) COMMENT 'applicable checks that could not run, and why' CODEC(ZSTD(1)),
    failed_check  LowCardinality(String)                    COMMENT 'name of the check that failed; empty if none did' CODEC(ZSTD(1)),
    expected      String                                    COMMENT 'what the failed check expected' CODEC(ZSTD(1)),
    found         String                                    COMMENT 'what the failed check found' CODEC(ZSTD(1)),
    source        LowCardinality(String)                    COMMENT 'kind of source: rpc, dump, cryo, etl, era1; tables for a later verification of stored blocks' CODEC(ZSTD(1)),
    run           String                                    COMMENT 'run of trawl-ingest that verified the block' CODEC(ZSTD(1)),
    decided_at    DateTime64(6, 'UTC') DEFAULT now64(6)     COMMENT 'time of the verdict' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (block_number, decided_at)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'outcome of the verification of each block';
