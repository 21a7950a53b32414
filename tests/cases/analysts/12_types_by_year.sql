SELECT toStartOfYear(block_timestamp) AS year, transaction_type AS type, count() AS txs, round(avg(gas_used)) AS gas
FROM transactions GROUP BY year, type ORDER BY year, type
