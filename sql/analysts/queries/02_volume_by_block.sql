-- What was moved of USDT and USDC, by block.
WITH address('0xdac17f958d2ee523a2206206994597c13d831ec7') AS usdt_token, address('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48') AS usdc_token
SELECT block_number, sumIf(value, token_address = usdt_token) / 1e6 AS usdt, sumIf(value, token_address = usdc_token) / 1e6 AS usdc
FROM v_token_transfers WHERE token_address IN (usdt_token, usdc_token)
GROUP BY block_number ORDER BY block_number DESC LIMIT 12
