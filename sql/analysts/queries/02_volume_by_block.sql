-- What was moved of USDT and USDC, by block.
SELECT block_number,
  sumIf(value, token_hex = '0xdac17f958d2ee523a2206206994597c13d831ec7') / 1e6 AS usdt,
  sumIf(value, token_hex = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48') / 1e6 AS usdc
FROM v_token_transfers
WHERE token_hex IN ('0xdac17f958d2ee523a2206206994597c13d831ec7', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')
GROUP BY block_number ORDER BY block_number DESC LIMIT 12
