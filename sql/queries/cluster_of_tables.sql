-- What the tables of a database are: the engine of the table of blocks, or of a Distributed one where a migration was interrupted
-- before that, the cluster that it is over, and whether the tables of a shard replicate.
SELECT
    engine,
    extract(engine_full, '^Distributed\\(\'([^\']*)\'') AS cluster,
    toBool(ifNull(
        (SELECT count() FROM system.tables WHERE database IN ({database:String}, {local:String}) AND startsWith(engine, 'Replicated')),
        0
    ) > 0) AS replicates
FROM system.tables
WHERE database = {database:String} AND (name = 'blocks' OR engine = 'Distributed')
ORDER BY name != 'blocks', cluster
LIMIT 1
