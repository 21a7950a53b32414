-- The SQL functions that were made on this server.
SELECT name
FROM system.functions
WHERE origin = 'SQLUserDefined'
