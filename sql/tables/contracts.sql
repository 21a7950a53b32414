-- contracts: one row per creation of a contract.
-- Read by: wherever an address is shown; eth_getCode; analysts.
-- Order:   contract, then chain position: one destroyed and created again has several rows.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS contracts
(
    address           FixedString(20)           COMMENT 'the contract' CODEC(ZSTD(1)),
    block_number      UInt64                    COMMENT 'height of the block that created it' CODEC(Delta, ZSTD(1)),
    transaction_index UInt32                    COMMENT 'position of the transaction in the block' CODEC(Delta, ZSTD(1)),
    transaction_hash  FixedString(32)           COMMENT 'transaction that created it; zero for the genesis' CODEC(ZSTD(1)),
    block_timestamp   DateTime64(6, 'UTC')      COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    creator           FixedString(20)           COMMENT 'creator: the sender, or the contract that executed the creation' CODEC(ZSTD(1)),
    creation_type     LowCardinality(String)    COMMENT 'create, create2, transaction or genesis' CODEC(ZSTD(1)),
    code_hash         Nullable(FixedString(32)) COMMENT 'Keccak-256 of its code; NULL if the source had no traces' CODEC(ZSTD(1)),
    code_size         Nullable(UInt32)          COMMENT 'bytes of its code; NULL if the source had no traces' CODEC(ZSTD(1)),
    INDEX time block_timestamp TYPE minmax GRANULARITY 1,
    INDEX address_text concat('0x', lower(hex(address))) TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (address, block_number, transaction_index)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'contracts and their creators';
