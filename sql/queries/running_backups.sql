-- How many BACKUP and RESTORE statements run on this server.
SELECT count() AS count
FROM system.processes
WHERE query_kind IN ('Backup', 'Restore')
