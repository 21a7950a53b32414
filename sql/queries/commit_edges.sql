-- The hashes at both ends of every committed range, to link further blocks to.
SELECT first_block, first_parent_hash, last_block, last_hash, last_total_difficulty
FROM ingest_commits
