-- Number of blocks by verdict: the latest verdict of each block counts.
SELECT
    verdict,
    count() AS blocks
FROM
(
    SELECT
        block_number,
        argMax(verdict, decided_at) AS verdict
    FROM block_verdicts
    GROUP BY block_number
)
GROUP BY verdict
ORDER BY verdict
SETTINGS optimize_aggregation_in_order = 1
