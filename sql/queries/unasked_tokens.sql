-- Contracts whose transfers are stored and that have not been asked yet what they are.
SELECT token_address AS address, argMin(token_type, block_number) AS token_type
FROM token_transfers_by_block
WHERE token_address NOT IN (SELECT address FROM tokens)
GROUP BY token_address
LIMIT 100000
