-- Stores the configuration of a chain, unless it equals the newest one.
INSERT INTO chain_configurations (chain_id, configuration)
SELECT {chain_id:UInt64}, {configuration:String}
WHERE {configuration:String} != (
    SELECT argMax(configuration, recorded_at)
    FROM chain_configurations
    WHERE chain_id = {chain_id:UInt64})
