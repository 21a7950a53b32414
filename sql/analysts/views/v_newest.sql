-- v_newest: which rows of the hot tables count, as one row: those of the branch that trawl-ingest follow takes for the chain,
-- as far as the hot tables have them.
CREATE OR REPLACE VIEW v_newest
(
    head_block UInt64 COMMENT 'the newest block that the API shows',
    last_block UInt64 COMMENT 'the newest block of the hot tables, so of the views; the API may be ahead by --hot-tables-interval of follow',
    segments Array(Tuple(UInt64, UInt64, UInt64)) COMMENT 'canonical rows: first block, last block (inclusive) and generation'
)
AS
WITH ifNull(tables_through, 0) AS reach
SELECT
    argMax(heads.head_block, sequence) AS head_block,
    argMax(reach, sequence) AS last_block,
    argMax(
        arrayMap(
            segment -> (segment.1, least(segment.2, reach), segment.3),
            arrayFilter(segment -> segment.1 <= reach, heads.segments)
        ),
        sequence
    ) AS segments
FROM ingest_heads AS heads
COMMENT 'one row: the newest blocks of the canonical chain'
