-- v_weth_withdrawals: logs of an event of wrapped ether and its kin, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_weth_withdrawals --by-contract --event 'Withdrawal(address indexed src, uint256 wad)'
CREATE OR REPLACE VIEW v_weth_withdrawals
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
    `src` FixedString(20) COMMENT 'address indexed',
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
    CAST(substring(topic1, 13, 20) AS FixedString(20)) AS `src`,
    reinterpretAsUInt256(reverse(substring(data, 1, 32))) AS `wad`
FROM v_logs_by_contract
WHERE topic0 = unhex('7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65')
  AND topics_count = 2
  AND length(data) >= 32
COMMENT 'logs of the event Withdrawal(address indexed src, uint256 wad)'
