-- The busiest collections of NFTs.
SELECT hex0x(token_address) AS collection, token_type, count() AS transfers, countIf(from_address = toFixedString('', 20)) AS mints, uniqExact(token_id) AS tokens
FROM v_token_transfers WHERE token_type != 'ERC-20' GROUP BY token_address, token_type ORDER BY transfers DESC, collection LIMIT 10
