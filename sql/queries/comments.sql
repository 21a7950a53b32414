-- The comments of a database: of columns, and by an empty name those of tables.
SELECT table, name AS column, comment
FROM system.columns
WHERE database = currentDatabase()
UNION ALL
SELECT name, '', comment
FROM system.tables
WHERE database = currentDatabase()
