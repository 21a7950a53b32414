-- v_uniswap_v4_swaps: logs of an event of Uniswap v4, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_uniswap_v4_swaps --event 'Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)'
CREATE OR REPLACE VIEW v_uniswap_v4_swaps
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
    `id` FixedString(32) COMMENT 'bytes32 indexed',
    `sender` FixedString(20) COMMENT 'address indexed',
    `amount0` Int256 COMMENT 'int128',
    `amount1` Int256 COMMENT 'int128',
    `sqrtPriceX96` UInt256 COMMENT 'uint160',
    `liquidity` UInt256 COMMENT 'uint128',
    `tick` Int256 COMMENT 'int24',
    `fee` UInt256 COMMENT 'uint24'
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
    CAST(substring(topic1, 1, 32) AS FixedString(32)) AS `id`,
    CAST(substring(topic2, 13, 20) AS FixedString(20)) AS `sender`,
    reinterpretAsInt256(reverse(substring(data, 1, 32))) AS `amount0`,
    reinterpretAsInt256(reverse(substring(data, 33, 32))) AS `amount1`,
    reinterpretAsUInt256(reverse(substring(data, 65, 32))) AS `sqrtPriceX96`,
    reinterpretAsUInt256(reverse(substring(data, 97, 32))) AS `liquidity`,
    reinterpretAsInt256(reverse(substring(data, 129, 32))) AS `tick`,
    reinterpretAsUInt256(reverse(substring(data, 161, 32))) AS `fee`
FROM v_logs
WHERE topic0 = unhex('40e9cecb9f5f1f1c5b9c97dec2917b7ee92e57ba5563708daca94dd84ad7112f')
  AND topics_count = 3
  AND length(data) >= 192
COMMENT 'logs of the event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)'
