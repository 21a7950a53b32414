-- Who gained and lost of a token in the loaded blocks.
SELECT hex0x(change.1) AS holder, sum(change.2) / 1e6 AS net_usdc
FROM v_token_transfers ARRAY JOIN [(to_address, toInt256(value)), (from_address, -toInt256(value))] AS change
WHERE token_address = address('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')
GROUP BY holder ORDER BY net_usdc DESC, holder LIMIT 10
