-- Stores blocks that another branch replaced.
INSERT INTO reorged_blocks
SELECT * EXCEPT (generation)
FROM hot_blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
  AND generation = {generation:UInt64}
ORDER BY ALL
