-- The fork rules of a chain from its newest genesis file.
SELECT configuration
FROM chain_configurations
WHERE chain_id = {chain_id:UInt64}
ORDER BY recorded_at DESC
LIMIT 1
