-- Ether wrapped and unwrapped, by block.
SELECT block_number, sumIf(wad, is_deposit) / 1e18 AS wrapped, sumIf(wad, NOT is_deposit) / 1e18 AS unwrapped
FROM (SELECT *, 1 AS is_deposit FROM v_weth_deposits UNION ALL SELECT *, 0 FROM v_weth_withdrawals)
WHERE contract = address('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2')
GROUP BY block_number ORDER BY block_number DESC LIMIT 10
