-- The most active senders, and what they paid.
SELECT hex0x(from_address) AS sender, count() AS txs, sum(fee) / 1e18 AS eth_fees
FROM v_transactions GROUP BY from_address ORDER BY txs DESC, sender LIMIT 10
