-- The contracts with the most logs.
SELECT address_hex AS contract, count() AS logs, uniqExact(block_number) AS blocks
FROM v_logs GROUP BY contract ORDER BY logs DESC, contract LIMIT 20
