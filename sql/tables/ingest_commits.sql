-- ingest_commits: one row per range of blocks whose rows are all written. What is not in here does not exist for a reader.
-- Read by: the API (what is readable, what is missing), trawl-ingest (where to go on), analysts.
-- Order:   first block.
-- Written: last of a batch, in one insert; never changed.
CREATE TABLE IF NOT EXISTS ingest_commits
(
    first_block       UInt64          COMMENT 'first block of the range' CODEC(Delta, ZSTD(1)),
    last_block        UInt64          COMMENT 'last block of the range, inclusive' CODEC(Delta, ZSTD(1)),
    parts             Array(LowCardinality(String)) COMMENT 'parts that every block of the range has: blocks, transactions, withdrawals, uncles, receipts' CODEC(ZSTD(1)),
    chain_id          Nullable(UInt64) COMMENT 'chain the blocks belong to; NULL until the source names it' CODEC(ZSTD(1)),
    first_parent_hash FixedString(32) COMMENT 'parent hash of the first block' CODEC(ZSTD(1)),
    last_hash         FixedString(32) COMMENT 'hash of the last block' CODEC(ZSTD(1)),
    transactions      UInt64          COMMENT 'transactions in the range' CODEC(ZSTD(1)),
    logs              UInt64          COMMENT 'logs in the range' CODEC(ZSTD(1)),
    rows              Array(Tuple(name String, rows UInt64)) COMMENT 'rows written to each table for the range, without tables that got none; if a table has fewer, rows were lost' CODEC(ZSTD(1)),
    source            LowCardinality(String) COMMENT 'kind of source: rpc, dump, cryo, etl, era1' CODEC(ZSTD(1)),
    run               String          COMMENT 'run of trawl-ingest that wrote it' CODEC(ZSTD(1)),
    committed_at      DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time of the commit' CODEC(Delta, ZSTD(1)),
    last_total_difficulty Nullable(UInt256) COMMENT 'total difficulty of the last block; NULL if the source did not give it' CODEC(ZSTD(1)),
    replaced          Array(Tuple(first_block UInt64, last_block UInt64, run String)) COMMENT 'commits that this one replaces, alone or with others of its run, because missing parts were filled in' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (first_block, last_block)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'ranges of blocks that are complete and readable';
