WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT block_number,
  sumIf(value, token_address = unhex('dac17f958d2ee523a2206206994597c13d831ec7')) / 1e6 AS usdt,
  sumIf(value, token_address = unhex('a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')) / 1e6 AS usdc
FROM token_transfers_by_block
WHERE token_address IN (unhex('dac17f958d2ee523a2206206994597c13d831ec7'), unhex('a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'))
GROUP BY block_number ORDER BY block_number DESC LIMIT 12
