-- v_counted: which transfers the balances of tokens are made of, as one row.
CREATE OR REPLACE VIEW v_counted
(
    counted_block Nullable(UInt64) COMMENT 'trawl-ingest has counted transfers up to this block; NULL if it counts none, as on a chain without its first blocks',
    settled_block UInt64 COMMENT 'last_block, limited to blocks that no reorganisation can change any more',
    last_block UInt64 COMMENT 'v_balances and v_token_holders include transfers up to this block: the newest, or the last one before the first gap'
)
AS
WITH
    (SELECT if(count() = 0, NULL, max(token_steps.last_block)) FROM token_steps WHERE stage = 'done') AS reach,
    (SELECT newest.last_block FROM v_newest AS newest) AS hot_block,
    arraySort(groupArrayIf(commits.first_block, has(parts, 'receipts'))) AS firsts,
    arraySort(groupArrayIf(commits.last_block, has(parts, 'receipts'))) AS lasts,
    -- The range of blocks with receipts that counting is in ends before the first one that begins with a gap above it.
    arrayFirst(
        (last, first) -> first > last + 1 AND first > ifNull(reach, 0),
        lasts,
        arrayResize(arrayPopFront(firsts), length(firsts), 18446744073709551615)
    ) AS island
SELECT
    reach AS counted_block,
    if(reach IS NULL, 0, island) AS settled_block,
    multiIf(
        reach IS NULL, 0,
        settled_block >= max(commits.last_block), greatest(settled_block, ifNull(hot_block, 0)),
        settled_block
    ) AS last_block
FROM ingest_commits AS commits
COMMENT 'one row: up to which blocks balances of tokens are known'
