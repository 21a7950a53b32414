-- Who created the most contracts.
SELECT creator_hex AS deployer, creation_type, count() AS contracts, sum(code_size) AS bytes
FROM v_contracts GROUP BY deployer, creation_type ORDER BY contracts DESC, deployer, creation_type LIMIT 10
