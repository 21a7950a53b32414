-- The applied migrations of this database.
SELECT DISTINCT version, name, checksum
FROM schema_migrations
ORDER BY version
