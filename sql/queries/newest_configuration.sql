-- The rules of a chain, as the genesis file stated them that was given last.
SELECT configuration
FROM chain_configurations
WHERE chain_id = {chain_id:UInt64}
ORDER BY recorded_at DESC
LIMIT 1
