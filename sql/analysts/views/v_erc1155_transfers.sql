-- v_erc1155_transfers: logs of an event of ERC-1155, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_erc1155_transfers --event 'TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)'
CREATE OR REPLACE VIEW v_erc1155_transfers
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
    `id` UInt256 COMMENT 'uint256',
    `value` UInt256 COMMENT 'uint256'
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
    reinterpretAsUInt256(reverse(substring(data, 1, 32))) AS `id`,
    reinterpretAsUInt256(reverse(substring(data, 33, 32))) AS `value`
FROM v_logs
WHERE topic0 = unhex('c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62')
  AND topics_count = 4
  AND length(data) >= 64
COMMENT 'logs of the event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)'
