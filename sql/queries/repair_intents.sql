-- The ranges that repairs announced: their commits are taken back until they are loaded again.
SELECT DISTINCT first_block, last_block
FROM ingest_intents
WHERE startsWith(run, {prefix:String})
ORDER BY first_block, last_block
