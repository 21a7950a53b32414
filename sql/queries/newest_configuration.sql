-- The fork rules of a chain from its newest genesis file, and the family that was stated.
SELECT configuration, family
FROM chain_configurations
WHERE chain_id = {chain_id:UInt64}
ORDER BY recorded_at DESC
LIMIT 1
