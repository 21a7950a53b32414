-- The ranges of blocks for which a part is committed, joined where they touch or overlap; by part, ascending.
SELECT
    part,
    min(first_block) AS first_block,
    max(last_block) AS last_block
FROM
(
    SELECT
        part,
        first_block,
        last_block,
        sum(starts_island) OVER (PARTITION BY part ORDER BY first_block, last_block ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
    FROM
    (
        SELECT
            part,
            first_block,
            last_block,
            first_block > 1 + max(last_block) OVER (PARTITION BY part ORDER BY first_block, last_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS starts_island
        FROM ingest_commits
        ARRAY JOIN parts AS part
    )
)
GROUP BY part, island
ORDER BY part, first_block
