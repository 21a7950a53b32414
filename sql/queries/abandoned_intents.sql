-- Ranges that other runs announced. A range that was never committed is of a killed run: some rows may be stored.
SELECT DISTINCT
    run,
    first_block,
    last_block,
    toUInt8((run, first_block, last_block) GLOBAL IN (SELECT run, first_block, last_block FROM ingest_commits)) AS is_committed
FROM ingest_intents
WHERE run != {run:String}
ORDER BY first_block
