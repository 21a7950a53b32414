-- v_uniswap_v2_swaps: logs of an event of pairs of Uniswap v2 and its kin, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_uniswap_v2_swaps --event 'Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)'
CREATE OR REPLACE VIEW v_uniswap_v2_swaps
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
    `sender` FixedString(20) COMMENT 'address indexed',
    `amount0In` UInt256 COMMENT 'uint256',
    `amount1In` UInt256 COMMENT 'uint256',
    `amount0Out` UInt256 COMMENT 'uint256',
    `amount1Out` UInt256 COMMENT 'uint256',
    `to` FixedString(20) COMMENT 'address indexed'
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
    CAST(substring(topic1, 13, 20) AS FixedString(20)) AS `sender`,
    reinterpretAsUInt256(reverse(substring(data, 1, 32))) AS `amount0In`,
    reinterpretAsUInt256(reverse(substring(data, 33, 32))) AS `amount1In`,
    reinterpretAsUInt256(reverse(substring(data, 65, 32))) AS `amount0Out`,
    reinterpretAsUInt256(reverse(substring(data, 97, 32))) AS `amount1Out`,
    CAST(substring(topic2, 13, 20) AS FixedString(20)) AS `to`
FROM v_logs
WHERE topic0 = unhex('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822')
  AND topics_count = 3
  AND length(data) >= 128
COMMENT 'logs of the event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)'
