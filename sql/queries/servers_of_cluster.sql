-- The servers of each shard of a cluster, with all their replicas. `clusterAllReplicas` counts each replica as a shard, in the order of
-- the configuration.
WITH
(
    SELECT groupArray(shard_num)
    FROM (SELECT shard_num FROM system.clusters WHERE cluster = {cluster:String} ORDER BY shard_num, replica_num)
) AS shards
SELECT
    toUInt32(shards[_shard_num]) AS shard,
    concat(toString(serverUUID()), ' ', hostName(), ':', toString(tcpPort())) AS server
FROM clusterAllReplicas({cluster:String}, system.one)
ORDER BY shard, server
