WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(holder) AS owner, argMax(balance, block_number) AS units
FROM token_balances
WHERE token_address = (SELECT token_address FROM token_statistics GROUP BY token_address HAVING argMax(holders_count, block_number) > 0 ORDER BY argMax(holders_count, block_number) DESC, token_address LIMIT 1)
  AND holder != toFixedString('', 20)
GROUP BY holder HAVING units > 0 ORDER BY units DESC, owner LIMIT 10
