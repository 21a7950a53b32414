WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(from_address) AS sender, count() AS txs, sum(gas_used * effective_gas_price) / 1e18 AS eth_fees
FROM transactions GROUP BY from_address ORDER BY txs DESC, sender LIMIT 10
