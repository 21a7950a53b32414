-- v_counted: which transfers the balances of tokens are made of, as one row.
CREATE OR REPLACE VIEW v_counted
(
    counted_block Nullable(UInt64) COMMENT 'up to this block trawl-ingest has counted transfers; NULL if it counts none, as on a chain without its first blocks',
    last_block UInt64 COMMENT 'up to this block v_balances and v_token_holders add those after it: the newest, or the last one before the first gap'
)
AS
SELECT
    steps.reach AS counted_block,
    if(island.last_block >= committed.last_block, greatest(island.last_block, newest.last_block), ifNull(island.last_block, 0)) AS last_block
FROM
(
    SELECT if(count() = 0, NULL, max(token_steps.last_block)) AS reach
    FROM token_steps
    WHERE stage = 'done'
) AS steps
CROSS JOIN v_committed AS committed
CROSS JOIN v_newest AS newest
CROSS JOIN
(
    SELECT max(range.2) AS last_block
    FROM
    (
        SELECT (min(first_block), max(last_block)) AS range
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
                WHERE has(parts, 'receipts')
            )
        )
        GROUP BY number
    )
    WHERE range.1 <= (SELECT if(count() = 0, NULL, max(token_steps.last_block)) FROM token_steps WHERE stage = 'done')
) AS island
COMMENT 'one row: up to which blocks balances of tokens are known'
