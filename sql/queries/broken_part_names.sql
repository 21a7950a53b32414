-- The broken parts that ClickHouse set aside, whether or not other parts have their rows.
SELECT table, name
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken')
ORDER BY table, name
