-- The table of the database with the most parts.
SELECT
    table,
    count() AS parts
FROM system.parts
WHERE active AND database = {database:String}
GROUP BY table
ORDER BY parts DESC
LIMIT 1
