-- tokens: what a token contract said of itself, one row each time it said something else.
-- Read by: wherever a token is shown; the newest row of a contract counts (argMax by block_number).
-- Order:   contract, then height.
-- Written: by trawl-ingest, after the first transfer of a contract and where a later call finds a change; append-only.
CREATE TABLE IF NOT EXISTS tokens
(
    address      FixedString(20)        COMMENT 'the token contract' CODEC(ZSTD(1)),
    block_number UInt64                 COMMENT 'height of the first call that returned these values' CODEC(Delta, ZSTD(1)),
    token_type   LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from its transfers' CODEC(ZSTD(1)),
    name         Nullable(String)       COMMENT 'its name, cut to 1000 characters; NULL if it returned none' CODEC(ZSTD(1)),
    symbol       Nullable(String)       COMMENT 'its symbol, cut to 1000 characters; NULL if it returned none' CODEC(ZSTD(1)),
    decimals     Nullable(UInt8)        COMMENT 'its decimals; NULL if it returned none' CODEC(ZSTD(1)),
    total_supply Nullable(UInt256)      COMMENT 'its supply in the smallest unit; NULL if it returned none' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (address, block_number)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'token metadata, as the contracts return it';
