-- Disks of ClickHouse with their room; object storage has no limit.
SELECT name, toUInt64(unreserved_space) AS free_bytes, toUInt64(total_space) AS total_bytes
FROM system.disks
WHERE NOT is_remote AND total_space > 0
ORDER BY name
