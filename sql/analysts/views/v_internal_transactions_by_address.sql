-- v_internal_transactions_by_address: calls by who takes part, a row for each participant; outermost calls and rewards are not among them.
-- Reads: calls of one address.
CREATE OR REPLACE VIEW v_internal_transactions_by_address
(
    address FixedString(20) COMMENT 'participant: caller, callee, creator, created contract or beneficiary, bytes; filter by it',
    address_hex String COMMENT 'participant, 0x text',
    block_number UInt64 COMMENT 'height of its block',
    transaction_index UInt32 COMMENT 'position of its transaction in the block',
    frame_index UInt32 COMMENT 'position in the transaction, in order of execution; 0 is a transaction that is itself a creation',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    frame_type LowCardinality(String) COMMENT 'call, create or selfdestruct',
    call_type LowCardinality(String) COMMENT 'call, callcode, delegatecall, staticcall, create, create2',
    from_address FixedString(20) COMMENT 'caller, bytes',
    from_address_hex String COMMENT 'caller, 0x text',
    from_hex String COMMENT 'the same as from_address_hex',
    to_address Nullable(FixedString(20)) COMMENT 'callee, bytes; NULL for a creation',
    to_address_hex Nullable(String) COMMENT 'callee, 0x text; NULL for a creation',
    to_hex Nullable(String) COMMENT 'the same as to_address_hex',
    created_contract Nullable(FixedString(20)) COMMENT 'contract created by a creation; NULL otherwise, and if it failed',
    value UInt256 COMMENT 'wei transferred, unless is_undone; 0 for delegatecall and staticcall',
    ether Float64 COMMENT 'value in ether, rounded to about 15 digits',
    gas_limit UInt64 COMMENT 'gas limit of the call',
    error String COMMENT 'error of this frame, as the node reports it; empty if it succeeded, even inside a failed frame',
    is_undone UInt8 COMMENT '1 if it, an enclosing frame or its transaction failed, so that its value was returned; else 0'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    address,
    concat('0x', lower(hex(address))) AS address_hex,
    block_number,
    transaction_index,
    frame_index,
    transaction_hash,
    concat('0x', lower(hex(transaction_hash))) AS transaction_hash_hex,
    block_timestamp,
    toDate(block_timestamp) AS block_date,
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
    error,
    is_undone
FROM
(
    SELECT
        address,
        block_number,
        transaction_index,
        frame_index,
        transaction_hash,
        block_timestamp,
        frame_type,
        call_type,
        from_address,
        to_address,
        created_contract,
        value,
        gas_limit,
        error,
        is_undone
    FROM hot_internal_transactions_by_address
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        address,
        block_number,
        transaction_index,
        frame_index,
        transaction_hash,
        block_timestamp,
        frame_type,
        call_type,
        from_address,
        to_address,
        created_contract,
        value,
        gas_limit,
        error,
        is_undone
    FROM internal_transactions_by_address
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'calls of an address: one row per participant, without outermost calls and rewards; filter by address before counting or summing'
