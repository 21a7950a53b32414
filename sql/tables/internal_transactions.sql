-- internal_transactions: one row per call frame of a transaction, the outermost included, and per block reward.
-- Read by: raw trace, transaction summary; wide scans of traces.
-- Order:   chain position.
-- Written: append-only, one insert per batch; visible once the ingest_commits row of its range exists.
CREATE TABLE IF NOT EXISTS internal_transactions
(
    block_number        UInt64                    COMMENT 'height of its block' CODEC(LZ4),
    transaction_index   UInt32                    COMMENT 'position of its transaction in the block; 4294967295 for rewards, which have none' CODEC(Delta, ZSTD(1)),
    frame_index         UInt32                    COMMENT 'position in the transaction, in order of execution; 0 is the transaction itself' CODEC(Delta, ZSTD(1)),
    transaction_hash    FixedString(32)           COMMENT 'hash of its transaction; zero for rewards' CODEC(ZSTD(1)),
    block_timestamp     DateTime64(6, 'UTC')      COMMENT 'timestamp of its block' CODEC(Delta, ZSTD(1)),
    trace_address       Array(UInt32)             COMMENT 'path from the outermost call: index of the child at each depth; empty for the outermost call' CODEC(ZSTD(1)),
    frame_type          LowCardinality(String)    COMMENT 'call, create, selfdestruct or reward' CODEC(ZSTD(1)),
    call_type           LowCardinality(String)    COMMENT 'call, callcode, delegatecall or staticcall; create or create2 for creations; block or uncle for rewards; empty for selfdestruct' CODEC(ZSTD(1)),
    from_address        FixedString(20)           COMMENT 'caller, creator or destroyed contract; zero for a reward' CODEC(ZSTD(1)),
    to_address          Nullable(FixedString(20)) COMMENT 'callee, or beneficiary of a destroyed contract or a reward; NULL for a creation, and where old nodes do not give the beneficiary (the value is unknown then)' CODEC(ZSTD(1)),
    created_contract    Nullable(FixedString(20)) COMMENT 'contract created by a creation; NULL otherwise, and if it failed' CODEC(ZSTD(1)),
    value               UInt256                   COMMENT 'wei transferred; 0 for delegatecall and staticcall, which show the value of their parent frame' CODEC(ZSTD(1)),
    gas_limit           UInt64                    COMMENT 'gas limit of the call; for the outermost frame the gas limit of the transaction' CODEC(ZSTD(1)),
    error               String                    COMMENT 'error as the node reports it; empty if it succeeded' CODEC(ZSTD(1)),
    gas_used            Nullable(UInt64)          COMMENT 'gas used by the call; for the outermost frame the gas used in the receipt; NULL if the source does not give it, such as trace_block for failures other than reverts' CODEC(ZSTD(1)),
    input               String                    COMMENT 'call data; init code of a creation' CODEC(ZSTD(1)),
    output              String                    COMMENT 'return data; for a creation the deployed code' CODEC(ZSTD(1)),
    subtraces           UInt32                    COMMENT 'number of its direct child calls' CODEC(ZSTD(1)),
    execution_gas_limit Nullable(UInt64)          COMMENT 'outermost frames of trace_block: gas left after the intrinsic cost; NULL otherwise' CODEC(ZSTD(1)),
    execution_gas_used  Nullable(UInt64)          COMMENT 'outermost frames of trace_block: gas used without the intrinsic cost, before refunds; NULL otherwise' CODEC(ZSTD(1)),
    is_undone           UInt8                     COMMENT '1 if it, an enclosing frame or its transaction failed, so that its effects were reverted and its value returned; else 0' CODEC(ZSTD(1)),
    INDEX time block_timestamp TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
ORDER BY (block_number, transaction_index, frame_index)
SETTINGS
    index_granularity = 512,
    min_compress_block_size = 16384,
    max_compress_block_size = 65536,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'call frames, by chain position';
