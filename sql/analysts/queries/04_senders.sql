-- The most active senders, and what they paid.
SELECT from_hex AS sender, count() AS txs, sum(fee) / 1e18 AS eth_fees
FROM v_transactions GROUP BY sender ORDER BY txs DESC, sender LIMIT 10
