-- Stores the configuration of a chain with the family that was stated, unless it equals the newest one.
INSERT INTO chain_configurations (chain_id, configuration, family)
WITH newest AS
(
    SELECT argMax(configuration, recorded_at) AS configuration, argMax(family, recorded_at) AS family
    FROM chain_configurations
    WHERE chain_id = {chain_id:UInt64}
)
SELECT {chain_id:UInt64}, {configuration:String}, family
FROM newest
WHERE {configuration:String} != configuration
