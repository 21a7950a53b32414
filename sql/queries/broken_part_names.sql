-- The broken parts that ClickHouse set aside, whether or not other parts have their rows.
SELECT toUInt32(1) AS shard, table, name
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken')
ORDER BY shard, table, name
