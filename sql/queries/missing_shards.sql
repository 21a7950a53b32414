-- The shards of a cluster that do not answer, with their servers.
SELECT
    toUInt64(shard_num) AS shard,
    arrayStringConcat(arraySort(groupUniqArray(concat(host_name, ':', toString(port)))), ', ') AS servers
FROM system.clusters
WHERE cluster = {cluster:String} AND shard_num NOT IN (SELECT _shard_num FROM cluster({cluster:String}, system.one))
GROUP BY shard_num
ORDER BY shard
