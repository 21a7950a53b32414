-- The parts of all tables but the hot ones and those of heads, with their bytes on disk, in the order in which ClickHouse merges neighbours.
SELECT table AS name, toUInt32(1) AS shard, bytes_on_disk AS bytes
FROM system.parts
WHERE active
  AND rows > 0
  AND database = currentDatabase()
  AND NOT startsWith(table, 'hot_')
  AND table != 'ingest_heads'
ORDER BY name, shard, partition_id, min_block_number
