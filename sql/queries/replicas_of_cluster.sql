-- How many replicas each shard of two clusters has.
SELECT toUInt32(shard_num) AS shard, count() AS replicas
FROM system.clusters
WHERE cluster IN ({cluster:String}, {first:String})
GROUP BY cluster, shard_num
ORDER BY shard, replicas
