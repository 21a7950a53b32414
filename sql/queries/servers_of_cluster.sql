-- The servers of each shard of a cluster, with all their replicas.
SELECT
    _shard_num AS shard,
    concat(toString(serverUUID()), ' ', hostName(), ':', toString(tcpPort())) AS server
FROM clusterAllReplicas({cluster:String}, system.one)
ORDER BY shard, server
