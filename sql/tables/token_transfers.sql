-- token_transfers: one row per token transfer and address that takes part in it.
-- Read by: address token transfers.
-- Order:   participant, then chain position, which is also the cursor. A transfer to oneself has one row; types filter within the range.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS token_transfers
(
    address           FixedString(20)        COMMENT 'participant: sender or recipient' CODEC(ZSTD(1)),
    block_number      UInt64                 COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    log_index         UInt32                 COMMENT 'position of its log in the block' CODEC(Delta, ZSTD(1)),
    batch_index       UInt32                 COMMENT 'position in an ERC-1155 batch; 0 otherwise' CODEC(Delta, ZSTD(1)),
    transaction_index UInt32                 COMMENT 'position of its transaction in the block' CODEC(Delta, ZSTD(1)),
    transaction_hash  FixedString(32)        COMMENT 'hash of its transaction' CODEC(ZSTD(1)),
    block_hash        FixedString(32)        COMMENT 'hash of its block' CODEC(ZSTD(1)),
    block_timestamp   DateTime64(6, 'UTC')   COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    token_type        LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from the shape of the log' CODEC(ZSTD(1)),
    token_address     FixedString(20)        COMMENT 'contract that emitted the log' CODEC(ZSTD(1)),
    from_address      FixedString(20)        COMMENT 'sender; zero for a mint' CODEC(ZSTD(1)),
    to_address        FixedString(20)        COMMENT 'recipient; zero for a burn' CODEC(ZSTD(1)),
    token_id          Nullable(UInt256)      COMMENT 'token of an ERC-721 or ERC-1155 transfer; NULL for ERC-20' CODEC(ZSTD(1)),
    value             UInt256                COMMENT 'amount in the smallest unit; 1 for ERC-721' CODEC(ZSTD(1)),
    INDEX address_text concat('0x', lower(hex(address))) TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (address, block_number, log_index, batch_index)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'token transfers, by participant';
