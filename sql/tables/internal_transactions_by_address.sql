-- internal_transactions_by_address: one row per call frame and address that takes part in it; outermost calls are left out, and rewards.
-- Read by: address internal transactions.
-- Order:   participant, then chain position, which is also the cursor. A frame from an address to itself has one row.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS internal_transactions_by_address
(
    address           FixedString(20)           COMMENT 'participant: caller, callee, creator, created contract or beneficiary' CODEC(ZSTD(1)),
    block_number      UInt64                    COMMENT 'height of its block' CODEC(Delta, ZSTD(1)),
    transaction_index UInt32                    COMMENT 'position of its transaction in the block' CODEC(Delta, ZSTD(1)),
    frame_index       UInt32                    COMMENT 'position in the transaction, in order of execution; 0 is a transaction that is itself a creation' CODEC(Delta, ZSTD(1)),
    transaction_hash  FixedString(32)           COMMENT 'hash of its transaction' CODEC(ZSTD(1)),
    block_timestamp   DateTime64(6, 'UTC')      COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    frame_type        LowCardinality(String)    COMMENT 'call, create or selfdestruct' CODEC(ZSTD(1)),
    call_type         LowCardinality(String)    COMMENT 'call, callcode, delegatecall or staticcall; create or create2 for creations; empty for selfdestruct' CODEC(ZSTD(1)),
    from_address      FixedString(20)           COMMENT 'caller, creator or destroyed contract' CODEC(ZSTD(1)),
    to_address        Nullable(FixedString(20)) COMMENT 'callee, or beneficiary of a destroyed contract; NULL for a creation' CODEC(ZSTD(1)),
    created_contract  Nullable(FixedString(20)) COMMENT 'contract created by a creation; NULL otherwise, and if it failed' CODEC(ZSTD(1)),
    value             UInt256                   COMMENT 'wei transferred, unless is_undone; 0 for delegatecall and staticcall' CODEC(ZSTD(1)),
    gas_limit         UInt64                    COMMENT 'gas limit of the call; for an outermost creation without the intrinsic cost if the source gives it so' CODEC(ZSTD(1)),
    error             String                    COMMENT 'error of this frame, as the node reports it; empty if it succeeded, even inside a failed frame' CODEC(ZSTD(1)),
    is_undone         UInt8                     COMMENT '1 if it, an enclosing frame or its transaction failed, so that its effects were reverted and its value returned; else 0' CODEC(ZSTD(1)),
    INDEX address_text concat('0x', lower(hex(address))) TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (address, block_number, transaction_index, frame_index)
SETTINGS
    index_granularity = 1024,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'call frames, by participant';
