-- token_balance_changes: what the step in hand does to balances; worked out before anything is changed, so that a step
-- that was interrupted is done again from here and not from balances it has changed already.
-- Read by: trawl-ingest.
-- Order:   token, kind of its transfers, holder, height.
-- Written: by trawl-ingest, one step at a time; emptied before the next.
CREATE TABLE IF NOT EXISTS token_balance_changes
(
    token_address  FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_type     LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155' CODEC(ZSTD(1)),
    holder         FixedString(20)        COMMENT 'holder; in rows of the zero address, what was minted and not burnt' CODEC(ZSTD(1)),
    block_number   UInt64                 COMMENT 'height of the change' CODEC(Delta, ZSTD(1)),
    balance_before UInt256                COMMENT 'balance below this height' CODEC(ZSTD(1)),
    balance        UInt256                COMMENT 'balance from this height on' CODEC(ZSTD(1)),
    is_told        UInt8                  COMMENT '0 if the balance does not follow from transfers: it would be negative, or tokens appeared without transfers' CODEC(ZSTD(1)),
    holders_before UInt64                 COMMENT 'holders of the token before the step' CODEC(ZSTD(1)),
    supply_before  UInt256                COMMENT 'supply of the token before the step' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (token_address, token_type, holder, block_number)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'changes of token balances in the current step'
