-- v_committed: which blocks are settled and complete, as one row; rows of other heights are being written, or left over from
-- a run that was killed. The other views leave them out. They read v_newest before this one: a block that is settled in between is
-- in both and counted once, not in neither. The engine reads them in the order in which they are used.
CREATE OR REPLACE VIEW v_committed
(
    first_block UInt64 COMMENT 'lowest settled block',
    last_block UInt64 COMMENT 'highest settled block',
    ranges Array(Tuple(UInt64, UInt64)) COMMENT 'all settled blocks: ranges (first, last), inclusive, ascending, joined where they touch'
)
AS
WITH
    arraySort(groupArray(commits.first_block)) AS firsts,
    arraySort(groupArray(commits.last_block)) AS lasts
SELECT
    firsts[1] AS first_block,
    lasts[-1] AS last_block,
    -- Commits may overlap. A range begins where as many have ended as begin below it, so the two may be sorted apart.
    arrayZip(
        arrayConcat(arraySlice(firsts, 1, 1), arrayFilter((first, last) -> first > last + 1, arrayPopFront(firsts), arrayPopBack(lasts))),
        arrayConcat(arrayFilter((last, first) -> first > last + 1, arrayPopBack(lasts), arrayPopFront(firsts)), arraySlice(lasts, -1, 1))
    ) AS ranges
FROM ingest_commits AS commits
COMMENT 'one row: the blocks that are settled and complete'
