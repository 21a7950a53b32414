-- v_committed: which blocks are settled and complete, as one row; rows of other heights are being written, or left over from
-- a run that was killed. The other views leave them out.
CREATE OR REPLACE VIEW v_committed
(
    first_block UInt64 COMMENT 'lowest settled block',
    last_block UInt64 COMMENT 'highest settled block',
    ranges Array(Tuple(UInt64, UInt64)) COMMENT 'all settled blocks: ranges (first, last), inclusive, ascending, joined where they touch'
)
AS
SELECT
    min(island.1) AS first_block,
    max(island.2) AS last_block,
    arraySort(groupArray(island)) AS ranges
FROM
(
    SELECT (min(first_block), max(last_block)) AS island
    FROM
    (
        SELECT
            first_block,
            last_block,
            sum(starts) OVER (ORDER BY first_block, last_block ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS number
        FROM
        (
            SELECT
                first_block,
                last_block,
                first_block > 1 + max(last_block) OVER (ORDER BY first_block, last_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS starts
            FROM ingest_commits
        )
    )
    GROUP BY number
)
COMMENT 'one row: the blocks that are settled and complete'
