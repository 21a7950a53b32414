WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(address) AS contract, count() AS logs, uniqExact(block_number) AS blocks
FROM logs GROUP BY address ORDER BY logs DESC, address LIMIT 20
