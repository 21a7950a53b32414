-- Who created the most contracts.
SELECT hex0x(creator) AS deployer, creation_type, count() AS contracts, sum(code_size) AS bytes
FROM v_contracts GROUP BY creator, creation_type ORDER BY contracts DESC, deployer, creation_type LIMIT 10
