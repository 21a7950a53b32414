-- transactions_by_address: one row per transaction and address that takes part in it: sender, recipient, created contract.
-- Read by: transactions and counters of an address; the rows themselves are fetched from transactions.
-- Order:   participant, then chain position, which is also the cursor. A transaction from an address to itself has one row.
-- Written: by the view transactions_by_address_from_transactions, whenever rows are inserted into transactions. A row may be there
--          twice. Left out by `trawl-ingest migrate --without transactions_by_address`; left_out_tables says so.
CREATE TABLE IF NOT EXISTS transactions_by_address
(
    address           FixedString(20)   COMMENT 'participant: sender, recipient or created contract' CODEC(ZSTD(1)),
    block_number      UInt64            COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    transaction_index UInt32            COMMENT 'position in the block, 0-based' CODEC(Delta, ZSTD(1)),
    sides             UInt8             COMMENT '1 sender, 2 recipient or created contract, 3 both' CODEC(ZSTD(1)),
    nonce             UInt64            COMMENT 'sender''s count of transactions before this one' CODEC(Delta, ZSTD(1)),
    value             UInt256           COMMENT 'wei sent' CODEC(ZSTD(1)),
    gas_used          Nullable(UInt64)  COMMENT 'gas used; NULL if the source did not give it' CODEC(ZSTD(1)),
    fee               Nullable(UInt256) COMMENT 'wei paid for gas, without blob gas; NULL if the source did not give it' CODEC(ZSTD(1)),
    INDEX sides sides TYPE set(3) GRANULARITY 1,
    INDEX nonce nonce TYPE minmax GRANULARITY 1,
    INDEX address_text concat('0x', lower(hex(address))) TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (address, block_number, transaction_index)
SETTINGS
    index_granularity = 1024,
    min_compress_block_size = 16384,
    max_compress_block_size = 65536,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'transactions, by participant'
