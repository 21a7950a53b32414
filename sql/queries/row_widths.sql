-- Average uncompressed bytes of a row of each table.
SELECT
    table AS name,
    intDiv(sum(data_uncompressed_bytes), greatest(sum(rows), 1)) AS width
FROM system.parts
WHERE database = currentDatabase()
  AND active
GROUP BY table
