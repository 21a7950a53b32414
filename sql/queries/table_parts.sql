-- Rows, bytes on disk and parts of each table, from the metadata of its parts: none is read, and deleted rows that were
-- not merged away yet count.
SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes_on_disk, count() AS parts
FROM system.parts
WHERE database = currentDatabase() AND active
GROUP BY table
ORDER BY bytes_on_disk DESC, table
