-- token_balances_by_holder: token_balances, by holder.
-- Read by: what an address holds; analysts. The newest row of a holder and token counts (FINAL, or argMax by block_number).
-- Order:   holder, then token and kind of its transfers, which is also the cursor.
-- Written: by the view token_balances_by_holder_from_token_balances, whenever rows are inserted into token_balances. Left out
--          by `trawl-ingest migrate --without token_balances_by_holder`; left_out_tables says so.
CREATE TABLE IF NOT EXISTS token_balances_by_holder
(
    holder        FixedString(20)        COMMENT 'holder; in rows of the zero address, what was minted and not burnt' CODEC(ZSTD(1)),
    token_address FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_type    LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from the shape of the transfers' CODEC(ZSTD(1)),
    block_number  UInt64                 COMMENT 'height of the last change' CODEC(Delta, ZSTD(1)),
    balance       UInt256                COMMENT 'smallest units, tokens of an ERC-721 contract, units over all ids of an ERC-1155 contract' CODEC(ZSTD(1)),
    INDEX holder_text concat('0x', lower(hex(holder))) TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(block_number)
ORDER BY (holder, token_address, token_type)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'balances of tokens, by holder'
