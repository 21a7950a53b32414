-- v_weth_deposits: logs of an event of wrapped ether and its kin, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_weth_deposits --by-contract --event 'Deposit(address indexed dst, uint256 wad)'
CREATE OR REPLACE VIEW v_weth_deposits
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
    `dst` FixedString(20) COMMENT 'address indexed',
    `wad` UInt256 COMMENT 'uint256'
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
    CAST(substring(topic1, 13, 20) AS FixedString(20)) AS `dst`,
    reinterpretAsUInt256(reverse(substring(data, 1, 32))) AS `wad`
FROM v_logs_by_contract
WHERE topic0 = unhex('e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c')
  AND topics_count = 2
  AND length(data) >= 32
COMMENT 'logs of the event Deposit(address indexed dst, uint256 wad)'
