-- v_withdrawals: validator withdrawals, each once, settled or newest.
-- Reads: withdrawals by height or time.
CREATE OR REPLACE VIEW v_withdrawals
(
    block_number UInt64 COMMENT 'height of its block',
    withdrawal_index UInt64 COMMENT 'running number over all blocks',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    validator_index UInt64 COMMENT 'validator the amount comes from',
    address FixedString(20) COMMENT 'recipient, bytes',
    address_hex String COMMENT 'recipient, 0x text',
    amount UInt256 COMMENT 'wei',
    ether Float64 COMMENT 'amount in ether, rounded to about 15 digits'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    block_number,
    withdrawal_index,
    block_timestamp,
    toDate(block_timestamp) AS block_date,
    validator_index,
    address,
    concat('0x', lower(hex(address))) AS address_hex,
    amount,
    toFloat64(amount) / 1e18 AS ether
FROM
(
    SELECT
        block_number,
        withdrawal_index,
        block_timestamp,
        validator_index,
        address,
        amount
    FROM hot_withdrawals
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        block_number,
        withdrawal_index,
        block_timestamp,
        validator_index,
        address,
        amount
    FROM withdrawals_by_block
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'validator withdrawals (EIP-4895): one row each; from settled blocks and the newest blocks of the canonical chain'
