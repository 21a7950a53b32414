-- The packed rows of some of the newest blocks, by height and generation: some lie apart, others in the head that first
-- named them, which is of their height or above. A block may be there twice, with the same rows.
SELECT generation, block_number, rows
FROM hot_rows
WHERE generation BETWEEN {lowest:UInt64} AND {highest:UInt64}
  AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
UNION ALL
SELECT block.generation, block.block_number, block.rows
FROM
(
    SELECT arrayJoin(blocks) AS block
    FROM ingest_heads
    PREWHERE head_block >= {first:UInt64}
         AND arrayExists(generation -> generation BETWEEN {lowest:UInt64} AND {highest:UInt64}, blocks.generation)
)
WHERE arrayExists(range -> block.block_number BETWEEN range.1 AND range.2 AND block.generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
