-- token_statistics: how many hold a token and how much of it there is, as its transfers tell it.
-- Read by: wherever a token is shown; analysts. The newest row of a token counts (argMax of a tuple by block_number, no
--          FINAL: an older one disappears in a merge or is outvoted).
-- Order:   token, kind of its transfers.
-- Written: by trawl-ingest, in the steps of token_steps; the same row again changes nothing.
CREATE TABLE IF NOT EXISTS token_statistics
(
    token_address FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_type    LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from the shape of the transfers' CODEC(ZSTD(1)),
    block_number  UInt64                 COMMENT 'height of the last change; if holders_count is NULL, the height from which on transfers do not determine holders and supply' CODEC(Delta, ZSTD(1)),
    holders_count Nullable(UInt64)       COMMENT 'addresses with a balance; NULL if a balance would be negative or tokens appeared without transfers' CODEC(ZSTD(1)),
    total_supply  Nullable(UInt256)      COMMENT 'minted and not burnt, in the smallest unit; NULL as holders_count is, and for ERC-1155' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(block_number)
ORDER BY (token_address, token_type)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'holders and supply of tokens, derived from transfers'
