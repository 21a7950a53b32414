-- Removes blocks from the reorged ones: they are settled.
DELETE FROM reorged_blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
  AND hash IN {hashes:Array(FixedString(32))}
