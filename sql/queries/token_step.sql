-- The blocks from first on, at most up to last, that have so many transfers together; at least the first block.
SELECT
    maxIf(block_number, is_in) AS last_block,
    sumIf(transfers, is_in) AS transfers,
    countIf(is_in = 0) AS blocks_left
FROM
(
    SELECT
        block_number,
        count() AS transfers,
        sum(transfers) OVER (ORDER BY block_number ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far,
        so_far <= {most:UInt64} OR so_far = transfers AS is_in
    FROM token_transfers_by_block
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
    GROUP BY block_number
)
