WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(token_address) AS collection, token_type, count() AS transfers, countIf(from_address = toFixedString('', 20)) AS mints, uniqExact(token_id) AS tokens
FROM token_transfers_by_block WHERE token_type != 'ERC-20' GROUP BY token_address, token_type ORDER BY transfers DESC, collection LIMIT 10
