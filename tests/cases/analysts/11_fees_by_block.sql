SELECT block_number, timestamp, transactions_count AS txs, toFloat64(base_fee_per_gas) * gas_used / 1e18 AS burnt, priority_fees / 1e18 AS tips, round(100 * gas_used / gas_limit) AS percent_full
FROM blocks WHERE base_fee_per_gas IS NOT NULL ORDER BY block_number DESC LIMIT 10
