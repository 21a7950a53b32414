-- Disks of ClickHouse with hardly any room.
SELECT name, toUInt64(unreserved_space) AS free_bytes
FROM system.disks
WHERE NOT is_remote AND total_space > 0 AND unreserved_space < {bytes:UInt64}
ORDER BY name
