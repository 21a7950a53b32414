-- The packed rows of some of the newest blocks, by height and generation. A block may be there twice, with the same rows.
SELECT generation, block_number, rows
FROM hot_rows
WHERE generation BETWEEN {lowest:UInt64} AND {highest:UInt64}
  AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
