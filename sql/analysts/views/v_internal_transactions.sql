-- v_internal_transactions: call frames, each once, settled or newest; the outermost frame of each transaction and block rewards included.
-- Reads: frames by height or time.
CREATE OR REPLACE VIEW v_internal_transactions
(
    block_number UInt64 COMMENT 'height of its block',
    transaction_index UInt32 COMMENT 'position of its transaction in the block; 4294967295 for rewards',
    frame_index UInt32 COMMENT 'position in the transaction, in order of execution; 0 is the transaction itself',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    trace_address Array(UInt32) COMMENT 'path from the outermost call: index of the child at each depth',
    frame_type LowCardinality(String) COMMENT 'call, create, selfdestruct or reward',
    call_type LowCardinality(String) COMMENT 'call, callcode, delegatecall, staticcall, create, create2; block or uncle for rewards',
    from_address FixedString(20) COMMENT 'caller; zero for a reward, bytes',
    from_address_hex String COMMENT 'caller; zero for a reward, 0x text',
    from_hex String COMMENT 'the same as from_address_hex',
    to_address Nullable(FixedString(20)) COMMENT 'callee, bytes; NULL for a creation',
    to_address_hex Nullable(String) COMMENT 'callee, 0x text; NULL for a creation',
    to_hex Nullable(String) COMMENT 'the same as to_address_hex',
    created_contract Nullable(FixedString(20)) COMMENT 'contract created by a creation; NULL otherwise, and if it failed',
    value UInt256 COMMENT 'wei transferred, unless is_undone; 0 for delegatecall and staticcall',
    ether Float64 COMMENT 'value in ether, rounded to about 15 digits',
    gas_limit UInt64 COMMENT 'gas limit of the call',
    gas_used Nullable(UInt64) COMMENT 'gas used by the call; NULL if the source does not give it',
    error String COMMENT 'error of this frame, as the node reports it; empty if it succeeded, even inside a failed frame',
    is_undone UInt8 COMMENT '1 if it, an enclosing frame or its transaction failed, so that its value was returned; else 0',
    input String COMMENT 'call data; init code of a creation, bytes',
    output String COMMENT 'return data; for a creation the deployed code, bytes',
    subtraces UInt32 COMMENT 'number of its direct child calls'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    block_number,
    transaction_index,
    frame_index,
    transaction_hash,
    concat('0x', lower(hex(transaction_hash))) AS transaction_hash_hex,
    block_timestamp,
    toDate(block_timestamp) AS block_date,
    trace_address,
    frame_type,
    call_type,
    from_address,
    concat('0x', lower(hex(from_address))) AS from_address_hex,
    from_address_hex AS from_hex,
    to_address,
    concat('0x', lower(hex(to_address))) AS to_address_hex,
    to_address_hex AS to_hex,
    created_contract,
    value,
    toFloat64(value) / 1e18 AS ether,
    gas_limit,
    gas_used,
    error,
    is_undone,
    input,
    output,
    subtraces
FROM
(
    SELECT
        block_number,
        transaction_index,
        frame_index,
        transaction_hash,
        block_timestamp,
        trace_address,
        frame_type,
        call_type,
        from_address,
        to_address,
        created_contract,
        value,
        gas_limit,
        error,
        is_undone,
        gas_used,
        input,
        output,
        subtraces
    FROM hot_internal_transactions
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        block_number,
        transaction_index,
        frame_index,
        transaction_hash,
        block_timestamp,
        trace_address,
        frame_type,
        call_type,
        from_address,
        to_address,
        created_contract,
        value,
        gas_limit,
        error,
        is_undone,
        gas_used,
        input,
        output,
        subtraces
    FROM internal_transactions
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'call frames: one row each, outermost ones and rewards included; from settled blocks and the newest blocks of the canonical chain'
