WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(creator) AS deployer, creation_type, count() AS contracts, sum(code_size) AS bytes
FROM contracts GROUP BY creator, creation_type ORDER BY contracts DESC, deployer, creation_type LIMIT 10
