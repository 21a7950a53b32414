-- token_id_holders: what each holder has of each id of an ERC-1155 token: token_id_balances, by id. Who has an id of an ERC-721
-- token, its row of the zero address in token_id_balances says.
-- Read by: holders of an id; analysts. The newest row of an id and holder counts (FINAL, or argMax by block_number).
-- Order:   token, id, holder.
-- Written: by the view token_id_holders_from_token_id_balances, whenever rows are inserted into token_id_balances.
CREATE TABLE IF NOT EXISTS token_id_holders
(
    token_address FixedString(20) COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_id      UInt256         COMMENT 'the id' CODEC(ZSTD(1)),
    holder        FixedString(20) COMMENT 'holder' CODEC(ZSTD(1)),
    block_number  UInt64          COMMENT 'height of the last change' CODEC(Delta, ZSTD(1)),
    balance       UInt256         COMMENT 'units of the id' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(block_number)
ORDER BY (token_address, token_id, holder)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'balances of single ids of ERC-1155 tokens, by id'
