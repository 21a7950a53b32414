-- v_logs: event logs, each once, settled or newest.
-- Reads: logs by height, time or event; those of rare contracts by a skip index. Those of one contract: v_logs_by_contract.
CREATE OR REPLACE VIEW v_logs
(
    block_number UInt64 COMMENT 'height of its block',
    log_index UInt32 COMMENT 'position in the block, 0-based',
    transaction_index UInt32 COMMENT 'position of its transaction in the block, 0-based',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_hash FixedString(32) COMMENT 'hash of its block, bytes',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    address FixedString(20) COMMENT 'contract that emitted it, bytes',
    address_hex String COMMENT 'contract that emitted it, 0x text',
    topics_count UInt8 COMMENT 'number of topics, 0 to 4',
    topic0 FixedString(32) COMMENT 'first topic, the hash of the event unless it is anonymous, bytes; zero if absent',
    topic0_hex String COMMENT 'first topic, 0x text; zero if absent',
    topic1 FixedString(32) COMMENT 'second topic, bytes; zero if absent',
    topic2 FixedString(32) COMMENT 'third topic, bytes; zero if absent',
    topic3 FixedString(32) COMMENT 'fourth topic, bytes; zero if absent',
    data String COMMENT 'arguments that are not indexed, bytes'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    block_number,
    log_index,
    transaction_index,
    transaction_hash,
    concat('0x', lower(hex(transaction_hash))) AS transaction_hash_hex,
    block_hash,
    block_timestamp,
    toDate(block_timestamp) AS block_date,
    address,
    concat('0x', lower(hex(address))) AS address_hex,
    topics_count,
    topic0,
    concat('0x', lower(hex(CAST(topic0 AS FixedString(32))))) AS topic0_hex,
    topic1,
    topic2,
    topic3,
    data
FROM
(
    SELECT
        block_number,
        log_index,
        transaction_index,
        transaction_hash,
        block_hash,
        block_timestamp,
        address,
        topics_count,
        topic0,
        topic1,
        topic2,
        topic3,
        data
    FROM hot_logs
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        block_number,
        log_index,
        transaction_index,
        transaction_hash,
        block_hash,
        block_timestamp,
        address,
        topics_count,
        topic0,
        topic1,
        topic2,
        topic3,
        data
    FROM logs_by_block
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'event logs: one row each, by height; from settled blocks and the newest blocks of the canonical chain'
