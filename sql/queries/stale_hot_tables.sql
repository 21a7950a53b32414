-- Hot tables whose columns, apart from the generation, differ from those of their settled table.
SELECT hot.name
FROM
(
    SELECT
        table AS name,
        substring(table, length('hot_') + 1) AS settled,
        groupArray((column_name, type)) AS columns
    FROM (SELECT table, name AS column_name, type, position FROM system.columns WHERE database = currentDatabase() ORDER BY table, position)
    WHERE startsWith(table, 'hot_') AND table != 'hot_rows' AND column_name != 'generation'
    GROUP BY table
) AS hot
LEFT JOIN
(
    SELECT
        table AS name,
        groupArray((column_name, type)) AS columns
    FROM (SELECT table, name AS column_name, type, position FROM system.columns WHERE database = currentDatabase() ORDER BY table, position)
    GROUP BY table
) AS settled ON settled.name = hot.settled
WHERE hot.columns != settled.columns
