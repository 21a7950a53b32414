-- What other runs announced. A range that was never committed is of a run that was killed: some of its rows may be there.
SELECT DISTINCT
    run,
    first_block,
    last_block,
    toUInt8((run, first_block, last_block) IN (SELECT run, first_block, last_block FROM ingest_commits)) AS is_committed
FROM ingest_intents
WHERE run != {run:String}
ORDER BY first_block
