-- How many rows were committed to each table, over all ranges. Commits that others replaced do not count.
SELECT each.1 AS table, sum(each.2) AS rows
FROM
(
    SELECT arrayJoin(rows) AS each
    FROM ingest_commits
    WHERE (first_block, last_block, run) GLOBAL NOT IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(replaced) AS one FROM ingest_commits))
)
GROUP BY table
ORDER BY table
