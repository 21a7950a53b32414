-- The committed ranges with their rows by table. Commits that others replaced do not count.
SELECT first_block, last_block, rows
FROM ingest_commits
WHERE (first_block, last_block, run) GLOBAL NOT IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(replaced) AS one FROM ingest_commits))
ORDER BY first_block, last_block
