-- The contracts with the most logs.
SELECT hex0x(address) AS contract, count() AS logs, uniqExact(block_number) AS blocks
FROM v_logs_by_contract GROUP BY address ORDER BY logs DESC, contract LIMIT 20
