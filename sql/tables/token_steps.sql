-- token_steps: up to which block token_balances and token_statistics reach, and how far the step in hand has come.
-- Read by: trawl-ingest: the highest last_block with stage `done` is what they reach; a later one with stage `known` has
--          its changes in token_balance_changes and is done again from there.
-- Order:   last block.
-- Written: by trawl-ingest, a row for each stage of a step; append-only.
CREATE TABLE IF NOT EXISTS token_steps
(
    first_block UInt64                 COMMENT 'first block of the step' CODEC(Delta, ZSTD(1)),
    last_block  UInt64                 COMMENT 'last block of the step, inclusive' CODEC(Delta, ZSTD(1)),
    stage       LowCardinality(String) COMMENT 'known: its changes are computed; done: they are applied' CODEC(ZSTD(1)),
    transfers   UInt64                 COMMENT 'token transfers in the step' CODEC(ZSTD(1)),
    run         String                 COMMENT 'run of trawl-ingest that wrote it' CODEC(ZSTD(1)),
    written_at  DateTime64(6, 'UTC')   DEFAULT now64(6) COMMENT 'time when it was written' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (last_block)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'blocks up to which token balances and statistics are computed'
