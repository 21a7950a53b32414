-- Removes blocks from the reorged ones: they are about to be settled.
DELETE FROM reorged_blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
  AND hash IN (
    SELECT hash
    FROM hot_blocks
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND generation = {generation:UInt64}
)
