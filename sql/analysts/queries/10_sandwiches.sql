-- Swaps of one recipient on both sides of another's, in one block and pair.
SELECT a.block_number AS block, a.contract_hex AS pool, hex0x(a.to) AS bot, a.transaction_index AS front, v.transaction_index AS victim, b.transaction_index AS back
FROM v_uniswap_v2_swaps AS a
JOIN v_uniswap_v2_swaps AS b ON a.block_number = b.block_number AND a.contract = b.contract AND a.to = b.to
JOIN v_uniswap_v2_swaps AS v ON a.block_number = v.block_number AND a.contract = v.contract
WHERE front < victim AND victim < back AND v.to != a.to AND a.amount0In = v.amount0In AND a.amount1In != b.amount1In
ORDER BY block, front, victim, back, pool LIMIT 10
