-- A shard of two clusters that has more than one replica.
SELECT toUInt32(shard_num) AS shard, count() AS replicas
FROM system.clusters
WHERE cluster IN ({cluster:String}, {first:String})
GROUP BY cluster, shard_num
HAVING replicas > 1
ORDER BY shard
LIMIT 1
