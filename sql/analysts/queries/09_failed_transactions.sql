-- The blocks in which the largest share of transactions failed, and what those paid.
SELECT block_number, countIf(status = 0) AS failed, count() AS txs, round(100 * failed / txs, 1) AS percent, sumIf(fee, status = 0) / 1e18 AS eth_burnt_on_failures
FROM v_transactions WHERE status IS NOT NULL GROUP BY block_number HAVING failed > 0 ORDER BY percent DESC, block_number LIMIT 10
