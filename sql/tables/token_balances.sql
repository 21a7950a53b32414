-- token_balances: what each holder has of each token, as its transfers tell it.
-- Read by: trawl-ingest, which goes on from it; analysts. The newest row of a holder counts (argMax by block_number, no
--          FINAL: an older one disappears in a merge or is outvoted). Whether the transfers of a token tell its balances at
--          all, token_statistics says. The zero address has what was minted and not burnt.
-- Order:   token, kind of its transfers, holder.
-- Written: by trawl-ingest, in the steps of token_steps; the same row again changes nothing.
CREATE TABLE IF NOT EXISTS token_balances
(
    token_address FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_type    LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from the shape of the transfers' CODEC(ZSTD(1)),
    holder        FixedString(20)        COMMENT 'holder; in rows of the zero address, what was minted and not burnt' CODEC(ZSTD(1)),
    block_number  UInt64                 COMMENT 'height of the last change' CODEC(Delta, ZSTD(1)),
    balance       UInt256                COMMENT 'smallest units, tokens of an ERC-721 contract, units over all ids of an ERC-1155 contract' CODEC(ZSTD(1)),
    INDEX token_text concat('0x', lower(hex(token_address))) TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(block_number)
ORDER BY (token_address, token_type, holder)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'balances of tokens, derived from transfers'
