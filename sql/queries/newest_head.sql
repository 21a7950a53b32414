-- The newest head that `trawl-ingest follow` wrote.
SELECT sequence, segments, head_block, safe_block, finalized_block, node_block, tables_through, chain_id, run, written_at
FROM ingest_heads
ORDER BY sequence DESC
LIMIT 1
