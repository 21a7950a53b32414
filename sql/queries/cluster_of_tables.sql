-- What the tables of a database are: the engine of the table of blocks, or of a Distributed one where a migration was interrupted
-- before that, and the cluster that it is over.
SELECT
    engine,
    extract(engine_full, '^Distributed\\(\'([^\']*)\'') AS cluster
FROM system.tables
WHERE database = {database:String} AND (name = 'blocks' OR engine = 'Distributed')
ORDER BY name != 'blocks', cluster
LIMIT 1
