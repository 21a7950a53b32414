WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT block_number, countIf(status = 0) AS failed, count() AS txs, round(100 * failed / txs, 1) AS percent,
       sumIf(gas_used * effective_gas_price, status = 0) / 1e18 AS eth_burnt_on_failures
FROM transactions WHERE status IS NOT NULL GROUP BY block_number HAVING failed > 0 ORDER BY percent DESC, block_number LIMIT 10
