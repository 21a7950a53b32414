-- How many rows were committed to each table, over all ranges.
SELECT each.1 AS table, sum(each.2) AS rows
FROM
(
    SELECT arrayJoin(rows) AS each
    FROM ingest_commits
)
GROUP BY table
ORDER BY table
