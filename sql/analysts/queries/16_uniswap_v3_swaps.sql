-- The newest swaps of Uniswap v3.
SELECT block_number, contract_hex AS pool, amount0, amount1, tick
FROM v_uniswap_v3_swaps ORDER BY block_number DESC, log_index LIMIT 10
