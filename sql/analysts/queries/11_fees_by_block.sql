-- What blocks burnt, what their tips were and how full they were.
SELECT block_number, timestamp, transactions_count AS txs, burnt_fees / 1e18 AS burnt, priority_fees / 1e18 AS tips, round(100 * gas_used / gas_limit) AS percent_full
FROM v_blocks WHERE base_fee_per_gas IS NOT NULL ORDER BY block_number DESC LIMIT 10
