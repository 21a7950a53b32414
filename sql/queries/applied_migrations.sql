-- The steps of the schema that this database has.
SELECT DISTINCT version, name, checksum
FROM schema_migrations
ORDER BY version
