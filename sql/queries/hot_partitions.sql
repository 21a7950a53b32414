-- The partitions of the hot tables and of heads: heights of blocks divided by the blocks of a partition.
SELECT DISTINCT table AS name, partition
FROM system.parts
WHERE active
  AND database = currentDatabase()
  AND (startsWith(table, 'hot_') OR table = 'ingest_heads')
ORDER BY name, partition
