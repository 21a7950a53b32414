-- Which server this is, as servers_of_cluster.sql has it.
SELECT concat(toString(serverUUID()), ' ', hostName(), ':', toString(tcpPort())) AS server
