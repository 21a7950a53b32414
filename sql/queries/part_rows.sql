-- How many rows each table has, from the metadata of its parts: none is read, and deleted rows that were not merged
-- away yet count. Of one table all parts are seen at one moment.
SELECT table, sum(rows) AS rows
FROM system.parts
WHERE database = currentDatabase() AND active
GROUP BY table
ORDER BY table
