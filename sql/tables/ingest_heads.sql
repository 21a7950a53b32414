-- ingest_heads: what `trawl-ingest follow` says of the newest blocks. The row with the highest sequence is the truth:
--               it names exactly the rows of the hot_* tables that exist for a reader, all on one branch.
-- Read by: the API (the newest blocks, safe and finalized), trawl-ingest (where to go on), analysts.
-- Order:   sequence.
-- Written: one row whenever the head, a branch or finality moves; never changed; removed in whole partitions some time
--          after the blocks up to head_block are settled.
-- Merged:  a dozen rows at a time and up to 1 MiB: rows carry blocks, and each look reads the newest alone.
CREATE TABLE IF NOT EXISTS ingest_heads
(
    sequence        UInt64               COMMENT 'increases by at least one from row to row' CODEC(Delta, ZSTD(1)),
    segments        Array(Tuple(first_block UInt64, last_block UInt64, generation UInt64, parts Array(String))) COMMENT 'readable rows of the hot tables, ascending: blocks (inclusive), their generation, and the parts that all of them have, as in ingest_commits' CODEC(ZSTD(1)),
    head_block      UInt64               COMMENT 'newest readable block' CODEC(ZSTD(1)),
    safe_block      Nullable(UInt64)     COMMENT 'safe block of the node; NULL if it has none' CODEC(ZSTD(1)),
    finalized_block Nullable(UInt64)     COMMENT 'finalized block of the node; NULL if it has none' CODEC(ZSTD(1)),
    node_block      UInt64               COMMENT 'newest block of the node' CODEC(ZSTD(1)),
    tables_through  Nullable(UInt64)     COMMENT 'the typed hot tables have the rows of all segments up to this block; later ones are only in the column `blocks` of this and earlier rows, or in hot_rows. NULL if the typed hot tables have no rows' CODEC(ZSTD(1)),
    chain_id        Nullable(UInt64)     COMMENT 'chain the blocks belong to' CODEC(ZSTD(1)),
    blocks          Array(Tuple(generation UInt64, block_number UInt64, rows String)) COMMENT 'blocks added by this row, packed as in hot_rows; empty if larger than 128 KiB, as they are in hot_rows then' CODEC(LZ4),
    run             String               COMMENT 'run of trawl-ingest that wrote it' CODEC(ZSTD(1)),
    written_at      DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time when it was written' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY intDiv(head_block, 512)
ORDER BY sequence
SETTINGS
    index_granularity = 128,
    index_granularity_bytes = 65536,
    min_parts_to_merge_at_once = 12,
    max_bytes_to_merge_at_max_space_in_pool = 1048576,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'readable rows of the hot tables';
