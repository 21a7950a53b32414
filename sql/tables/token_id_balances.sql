-- token_id_balances: what each holder has of each id of a token, as its transfers tell it. The rows of the zero address are
-- of the ids themselves: how much there is of each, and who owns it.
-- Read by: ids of a token, one id, what an address has of them; trawl-ingest, which goes on from it; analysts. The newest row
--          of a key counts (FINAL, or argMax by block_number). Whether the transfers of a token tell its balances at all,
--          token_statistics says.
-- Order:   holder, token, kind of its transfers, id, which is also the cursor: the ids of a token are the range of the zero
--          address, in the same order.
-- Written: by trawl-ingest, in the steps of token_steps; the same row again changes nothing.
CREATE TABLE IF NOT EXISTS token_id_balances
(
    holder        FixedString(20)        COMMENT 'holder; the zero address stands for the id itself' CODEC(ZSTD(1)),
    token_address FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    token_type    LowCardinality(String) COMMENT 'ERC-721 or ERC-1155, derived from the shape of the transfers' CODEC(ZSTD(1)),
    token_id      UInt256                COMMENT 'the id' CODEC(ZSTD(1)),
    block_number  UInt64                 COMMENT 'height of the last change' CODEC(Delta, ZSTD(1)),
    balance       UInt256                COMMENT 'units of the id; in rows of the zero address, those minted and not burnt' CODEC(ZSTD(1)),
    owner         FixedString(20)        COMMENT 'owner of an ERC-721 id, in rows of the zero address; zero in other rows' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(block_number)
ORDER BY (holder, token_address, token_type, token_id)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'balances of single ids of tokens, and their owners'
