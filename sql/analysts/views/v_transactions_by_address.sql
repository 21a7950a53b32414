-- v_transactions_by_address: transactions by who takes part, a row for each participant, with what they sent and paid. The rest of
-- them is in v_transactions, at the same block_number and transaction_index.
-- Reads: transactions of one address.
CREATE OR REPLACE VIEW v_transactions_by_address
(
    address FixedString(20) COMMENT 'participant: sender, recipient or created contract, bytes; filter by it',
    address_hex String COMMENT 'participant, 0x text',
    block_number UInt64 COMMENT 'height of its block',
    transaction_index UInt32 COMMENT 'position in the block, 0-based',
    is_sender UInt8 COMMENT '1 if the address sent it; else 0',
    is_recipient UInt8 COMMENT '1 if it was sent to the address or created it; else 0',
    nonce UInt64 COMMENT 'sender''s count of transactions before this one',
    value UInt256 COMMENT 'wei sent; transferred only if the transaction succeeded',
    ether Float64 COMMENT 'value in ether, rounded to about 15 digits',
    gas_used Nullable(UInt64) COMMENT 'gas used; NULL if the source did not give it',
    fee Nullable(UInt256) COMMENT 'wei paid by the sender for gas and the fees of a rollup, without that of blobs; NULL if the source did not give it'
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
    bitAnd(sides, 1) AS is_sender,
    bitShiftRight(bitAnd(sides, 2), 1) AS is_recipient,
    nonce,
    value,
    toFloat64(value) / 1e18 AS ether,
    gas_used,
    fee
FROM
(
    SELECT
        address,
        block_number,
        transaction_index,
        toUInt8(if(address = from_address, 1, 0) + if(address IN (to_address, contract_address), 2, 0)) AS sides,
        nonce,
        value,
        if(has_receipt = 1 AND NOT has(lacking, 'gas_used'), hot.gas_used, NULL) AS gas_used,
        if(has_receipt = 1 AND NOT hasAny(lacking, ['gas_used', 'effective_gas_price', 'l1_fee', 'operator_fee']), hot.gas_used * effective_gas_price + ifNull(l1_fee, 0) + ifNull(operator_fee, 0), NULL) AS fee
    FROM hot_transactions AS hot
    ARRAY JOIN
        arrayDistinct([from_address, ifNull(to_address, from_address), ifNull(contract_address, from_address)]) AS address
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    -- A row may be stored twice.
    SELECT
        address,
        block_number,
        transaction_index,
        any(by_address.sides) AS sides,
        any(by_address.nonce) AS nonce,
        any(by_address.value) AS value,
        any(by_address.gas_used) AS gas_used,
        any(by_address.fee) AS fee
    FROM transactions_by_address AS by_address
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
    GROUP BY address, block_number, transaction_index
)
COMMENT 'transactions of an address: one row per participant, one in total if an address sent to itself; filter by address before counting or summing'
