-- The ranges of blocks for which `part` is committed, joined where they touch or overlap; ascending.
SELECT
    min(first_block) AS first_block,
    max(last_block) AS last_block
FROM
(
    SELECT
        first_block,
        last_block,
        sum(starts_island) OVER (ORDER BY first_block, last_block ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
    FROM
    (
        SELECT
            first_block,
            last_block,
            first_block > 1 + max(last_block) OVER (ORDER BY first_block, last_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS starts_island
        FROM ingest_commits
        WHERE has(parts, {part:String})
    )
)
GROUP BY island
ORDER BY first_block
