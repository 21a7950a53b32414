-- The heights that have a row in `blocks`, committed or not, as ranges. Reads one column of the whole table.
SELECT min(block_number) AS first_block, max(block_number) AS last_block
FROM
(
    SELECT block_number, block_number - row_number() OVER (ORDER BY block_number) AS island
    FROM
    (
        SELECT DISTINCT block_number
        FROM blocks
    )
)
GROUP BY island
ORDER BY first_block
