-- Rows and bytes on disk of each table of a database and of that with the rows of a shard, from the metadata of their parts.
SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE database IN ({database:String}, {local:String}) AND active
GROUP BY table
