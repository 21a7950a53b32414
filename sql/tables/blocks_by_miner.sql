-- blocks_by_miner: one row per block: who made it.
-- Read by: blocks and counters of an address; the blocks themselves are fetched from blocks.
-- Order:   whether the maker is known, maker, then height, which is also the cursor. So it is one look at the key whether any
--          block has no known maker, without which a list may be incomplete.
-- Written: by the view blocks_by_miner_from_blocks, whenever rows are inserted into blocks. A row may be there twice. Left out by
--          `trawl-ingest migrate --without blocks_by_miner`; left_out_tables says so.
CREATE TABLE IF NOT EXISTS blocks_by_miner
(
    has_miner    UInt8           COMMENT '1; 0 if the source did not give the block producer' CODEC(ZSTD(1)),
    miner        FixedString(20) COMMENT 'block producer, as in blocks.producer; raw bytes, show with hex()' CODEC(ZSTD(1)),
    block_number UInt64          COMMENT 'height' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (has_miner, miner, block_number)
SETTINGS
    index_granularity = 1024,
    min_compress_block_size = 16384,
    max_compress_block_size = 65536,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'heights of blocks, by producer'
