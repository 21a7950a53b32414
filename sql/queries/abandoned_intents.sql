-- Ranges that a run announced and never committed: it was killed, and some of their rows may be there.
SELECT DISTINCT first_block, last_block
FROM ingest_intents
WHERE run != {run:String}
  AND (run, first_block, last_block) NOT IN (SELECT run, first_block, last_block FROM ingest_commits)
ORDER BY first_block
