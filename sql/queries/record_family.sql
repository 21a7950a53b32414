-- Stores the stated family of a chain with its newest configuration, unless it equals the newest one.
INSERT INTO chain_configurations (chain_id, configuration, family)
WITH newest AS
(
    SELECT argMax(configuration, recorded_at) AS configuration, argMax(family, recorded_at) AS family
    FROM chain_configurations
    WHERE chain_id = {chain_id:UInt64}
)
SELECT {chain_id:UInt64}, configuration, {family:String}
FROM newest
WHERE {family:String} != family
