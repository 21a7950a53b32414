-- The tables of a database that are merged, with their engines and settings.
SELECT name, engine_full
FROM system.tables
WHERE database = currentDatabase()
  AND endsWith(engine, 'MergeTree')
