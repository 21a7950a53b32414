-- token_id_changes: what the step in hand does to balances of single ids; like token_balance_changes, which is worked out
-- from it too.
-- Read by: trawl-ingest.
-- Order:   holder, token, kind of its transfers, id, height.
-- Written: by trawl-ingest, one step at a time; emptied before the next.
CREATE TABLE IF NOT EXISTS token_id_changes
(
    holder        FixedString(20)        COMMENT 'holder; in rows of the zero address, what was minted and not burnt' CODEC(ZSTD(1)),
    token_address FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_type    LowCardinality(String) COMMENT 'ERC-721 or ERC-1155' CODEC(ZSTD(1)),
    token_id      UInt256                COMMENT 'the id' CODEC(ZSTD(1)),
    block_number  UInt64                 COMMENT 'height of the change' CODEC(Delta, ZSTD(1)),
    balance       UInt256                COMMENT 'balance from this height on' CODEC(ZSTD(1)),
    is_told       UInt8                  COMMENT '0 if the balance does not follow from transfers: it would be negative, or above one for an ERC-721 id' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (holder, token_address, token_type, token_id, block_number)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'changes of balances of single ids in the current step'
