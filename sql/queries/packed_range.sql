-- The packed rows of a range of the newest blocks of one generation, ascending: some lie apart, others in the head that
-- first named them, which is of their height or above.
SELECT generation, block_number, rows
FROM
(
    SELECT generation, block_number, rows
    FROM hot_rows
    WHERE generation = {generation:UInt64}
      AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
    UNION ALL
    SELECT block.generation, block.block_number, block.rows
    FROM
    (
        SELECT arrayJoin(blocks) AS block
        FROM ingest_heads
        PREWHERE head_block >= {first:UInt64}
             AND arrayExists(number -> number BETWEEN {first:UInt64} AND {last:UInt64}, blocks.block_number)
    )
    WHERE block.generation = {generation:UInt64}
      AND block.block_number BETWEEN {first:UInt64} AND {last:UInt64}
)
ORDER BY block_number
LIMIT 1 BY block_number
