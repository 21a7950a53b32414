-- The committed ranges with their rows by table.
SELECT first_block, last_block, rows
FROM ingest_commits
ORDER BY first_block, last_block
