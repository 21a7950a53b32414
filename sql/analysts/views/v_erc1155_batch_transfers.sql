-- v_erc1155_batch_transfers: logs of an event of ERC-1155, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_erc1155_batch_transfers --event 'TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)'
CREATE OR REPLACE VIEW v_erc1155_batch_transfers
(
    block_number UInt64 COMMENT 'height of its block',
    log_index UInt32 COMMENT 'position in the block, 0-based',
    transaction_index UInt32 COMMENT 'position of its transaction in the block, 0-based',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    contract FixedString(20) COMMENT 'contract that emitted it, bytes',
    contract_hex String COMMENT 'contract that emitted it, 0x text',
    `operator` FixedString(20) COMMENT 'address indexed',
    `from` FixedString(20) COMMENT 'address indexed',
    `to` FixedString(20) COMMENT 'address indexed',
    `ids` Array(UInt256) COMMENT 'uint256[]',
    `values` Array(UInt256) COMMENT 'uint256[]'
)
AS
SELECT
    block_number,
    log_index,
    transaction_index,
    transaction_hash,
    transaction_hash_hex,
    block_timestamp,
    block_date,
    address AS contract,
    address_hex AS contract_hex,
    CAST(substring(topic1, 13, 20) AS FixedString(20)) AS `operator`,
    CAST(substring(topic2, 13, 20) AS FixedString(20)) AS `from`,
    CAST(substring(topic3, 13, 20) AS FixedString(20)) AS `to`,
    arrayMap(item -> reinterpretAsUInt256(reverse(substring(data, toUInt64(least(reinterpretAsUInt256(reverse(substring(data, 1, 32))), 4294967295)) + 33 + 32 * item, 32))), range(least(toUInt64(least(reinterpretAsUInt256(reverse(substring(data, toUInt64(least(reinterpretAsUInt256(reverse(substring(data, 1, 32))), 4294967295)) + 1, 32))), 4294967295)), intDiv(length(data), 32)))) AS `ids`,
    arrayMap(item -> reinterpretAsUInt256(reverse(substring(data, toUInt64(least(reinterpretAsUInt256(reverse(substring(data, 33, 32))), 4294967295)) + 33 + 32 * item, 32))), range(least(toUInt64(least(reinterpretAsUInt256(reverse(substring(data, toUInt64(least(reinterpretAsUInt256(reverse(substring(data, 33, 32))), 4294967295)) + 1, 32))), 4294967295)), intDiv(length(data), 32)))) AS `values`
FROM v_logs
WHERE topic0 = unhex('4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb')
  AND topics_count = 4
  AND length(data) >= 64
COMMENT 'logs of the event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)'
