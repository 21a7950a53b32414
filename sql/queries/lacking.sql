-- Columns that rows of blocks and transactions lack, with the range of blocks and the number of rows.
SELECT
    column,
    min(block_number) AS first_block,
    max(block_number) AS last_block,
    count() AS rows
FROM
(
    SELECT
        concat('blocks.', arrayJoin(lacking)) AS column,
        block_number
    FROM blocks
    WHERE notEmpty(lacking)
    UNION ALL
    SELECT
        concat('transactions.', arrayJoin(lacking)) AS column,
        block_number
    FROM transactions
    WHERE notEmpty(lacking)
)
GROUP BY column
ORDER BY column
