-- listed_internal_transactions: positions of the call frames that lists show: all but outermost calls and rewards.
-- Read by: the list of all internal transactions, and those of a range of blocks; the frames are fetched from
--          internal_transactions. Where most transactions are plain transfers, that table has a listed frame only here and there.
-- Order:   chain position, which is also the cursor.
-- Written: by the view listed_internal_transactions_from_internal_transactions, whenever rows are inserted into
--          internal_transactions. A row may be there twice. Left out by
--          `trawl-ingest migrate --without listed_internal_transactions`; left_out_tables says so.
CREATE TABLE IF NOT EXISTS listed_internal_transactions
(
    block_number      UInt64 COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    transaction_index UInt32 COMMENT 'position of its transaction in the block' CODEC(Delta, ZSTD(1)),
    frame_index       UInt32 COMMENT 'position in the transaction, in order of execution' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (block_number, transaction_index, frame_index)
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
COMMENT 'positions of call frames, without outermost calls and rewards'
