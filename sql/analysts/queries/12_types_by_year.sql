-- Types of transactions over the years.
SELECT toStartOfYear(block_date) AS year, transaction_type AS type, count() AS txs, round(avg(gas_used)) AS gas
FROM v_transactions GROUP BY year, type ORDER BY year, type
