WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(holder) AS holder, sum(delta) / 1e6 AS net_usdc
FROM (SELECT to_address AS holder, toInt256(value) AS delta FROM token_transfers_by_block WHERE token_address = unhex('a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')
      UNION ALL
      SELECT from_address, -toInt256(value) FROM token_transfers_by_block WHERE token_address = unhex('a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'))
GROUP BY holder ORDER BY net_usdc DESC, holder LIMIT 10
