-- The disk of the server with the least room.
SELECT
    argMin(name, unreserved_space) AS name,
    min(unreserved_space) AS free_bytes,
    argMin(total_space, unreserved_space) AS total_bytes
FROM system.disks
