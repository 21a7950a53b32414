-- transaction_totals: what the transactions of a day, a week, a month or a year add up to, once all its blocks are settled.
-- Read by: charts of transactions; analysts. A row counts if its commits are those of the blocks now, and the newest such
--          row of a range (LIMIT 1 BY, no FINAL); periods without one are added up from transactions.
-- Order:   first block, last block: a period is looked up by its blocks.
-- Written: by trawl-ingest beside a load and after settling; the same row again changes nothing.
CREATE TABLE IF NOT EXISTS transaction_totals
(
    first_block    UInt64              COMMENT 'first block of the period, or the first one loaded' CODEC(Delta, ZSTD(1)),
    last_block     UInt64              COMMENT 'last block of the period, inclusive' CODEC(Delta, ZSTD(1)),
    commits        UInt64              COMMENT 'fingerprint of the commits of these blocks: the sum modulo 2^64 of cityHash64(first_block, last_block, run, committed_at)' CODEC(ZSTD(1)),
    transactions   UInt64              COMMENT 'transactions' CODEC(ZSTD(1)),
    failed         UInt64              COMMENT 'transactions with status 0' CODEC(ZSTD(1)),
    without_status UInt64              COMMENT 'transactions whose status is not known' CODEC(ZSTD(1)),
    gas            UInt256             COMMENT 'gas used' CODEC(ZSTD(1)),
    failed_gas     UInt256             COMMENT 'gas used by failed transactions' CODEC(ZSTD(1)),
    fees           UInt256             COMMENT 'fees paid, in wei' CODEC(ZSTD(1)),
    failed_fees    UInt256             COMMENT 'fees paid by failed transactions, in wei' CODEC(ZSTD(1)),
    without_gas    UInt64              COMMENT 'transactions whose gas or price is not known' CODEC(ZSTD(1)),
    senders        UInt64              COMMENT 'distinct senders' CODEC(ZSTD(1)),
    new_senders    UInt64              COMMENT 'senders of a transaction with nonce 0' CODEC(ZSTD(1)),
    without_nonce  UInt64              COMMENT 'transactions whose nonce is not known' CODEC(ZSTD(1)),
    price_p10      Nullable(UInt256)   COMMENT '10th percentile of the effective gas price in wei, within 1 %; NULL without receipts' CODEC(ZSTD(1)),
    price_p50      Nullable(UInt256)   COMMENT 'median of the effective gas price in wei, within 1 %; NULL without receipts' CODEC(ZSTD(1)),
    price_p90      Nullable(UInt256)   COMMENT '90th percentile of the effective gas price in wei, within 1 %; NULL without receipts' CODEC(ZSTD(1)),
    added_up_at    DateTime64(6, 'UTC') COMMENT 'time when they were aggregated' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(added_up_at)
ORDER BY (first_block, last_block)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'transactions aggregated by day, week, month and year'
