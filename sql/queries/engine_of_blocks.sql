-- The engine of the table of blocks, and the cluster that it is Distributed over.
SELECT
    engine,
    extract(engine_full, '^Distributed\\(\'([^\']*)\'') AS cluster
FROM system.tables
WHERE database = {database:String} AND name = 'blocks'
