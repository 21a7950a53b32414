-- The commits of which some of the given parts are missing, ascending. Commits that others replaced do not count.
SELECT first_block, last_block, parts, chain_id, first_parent_hash, last_hash, transactions, logs, rows, source, run, committed_at, last_total_difficulty, replaced
FROM ingest_commits
WHERE NOT arrayExists(part -> startsWith(part, {part:String}), parts)
  AND (first_block, last_block, run) GLOBAL NOT IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(replaced) AS one FROM ingest_commits))
ORDER BY first_block, last_block
