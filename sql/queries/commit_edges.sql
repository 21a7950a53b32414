-- The hashes at both ends of every committed range, for links to further blocks.
SELECT first_block, first_parent_hash, last_block, last_hash, last_total_difficulty
FROM ingest_commits
