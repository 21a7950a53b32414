-- Contracts with stored transfers and without stored metadata.
SELECT token_address AS address, argMin(token_type, block_number) AS token_type
FROM token_transfers_by_block
WHERE token_address GLOBAL NOT IN (SELECT address FROM tokens)
GROUP BY token_address
LIMIT 100000
