-- The newest head that `trawl-ingest follow` wrote, if it is not older than `since`: most parts are not read then.
SELECT sequence, segments, head_block, safe_block, finalized_block, node_block, tables_through, chain_id, blocks, run, written_at
FROM ingest_heads
WHERE sequence >= {since:UInt64}
ORDER BY sequence DESC
LIMIT 1
