-- Percentiles of gas prices, by block.
SELECT block_number, arrayMap(x -> round(x / 1e9, 2), quantiles(0.1, 0.5, 0.9, 0.99)(toFloat64(effective_gas_price))) AS p10_50_90_99_gwei
FROM v_transactions GROUP BY block_number ORDER BY block_number DESC LIMIT 10
