-- The holders of the token that most addresses hold.
SELECT holder_hex AS owner, balance AS units
FROM v_token_holders
WHERE token_address = (SELECT token_address FROM token_statistics GROUP BY token_address ORDER BY argMax(tuple(holders_count), block_number).1 DESC NULLS LAST, token_address LIMIT 1)
ORDER BY units DESC, owner LIMIT 10
