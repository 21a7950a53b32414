-- hot_rows: newest blocks, which another branch may still replace, each as one row that holds the rows of all its tables.
--           Only those too large for the row of ingest_heads that names them, which says which generations count.
-- Read by: the API, which keeps the newest blocks in memory and reads each generation once; trawl-ingest, after a
--          restart. For SQL there are the hot_* tables with the same rows.
-- Order:   generation, block, so that what is new since a head is one range.
-- Written: one insert for all blocks that become readable together; removed in whole partitions some time after the
--          blocks are settled.
-- Merged:  once or twice: a block is read by its key, and removed soon.
CREATE TABLE IF NOT EXISTS hot_rows
(
    generation   UInt64 COMMENT 'version of the block height that the row belongs to, one per write; ingest_heads lists the readable ones' CODEC(Delta, ZSTD(1)),
    block_number UInt64 COMMENT 'height of the block' CODEC(Delta, ZSTD(1)),
    rows         String COMMENT 'the rows of the block by table: for each table the length of its name (1 byte), the name, the length of the stream (4 bytes, little-endian), and an Arrow IPC stream' CODEC(LZ4)
)
ENGINE = MergeTree
PARTITION BY intDiv(block_number, 512)
ORDER BY (generation, block_number)
SETTINGS
    index_granularity = 128,
    index_granularity_bytes = 1048576,
    min_parts_to_merge_at_once = 8,
    max_bytes_to_merge_at_max_space_in_pool = 4194304,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'newest blocks, one row each, packed';
