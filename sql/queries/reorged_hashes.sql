-- The hashes of the reorged blocks of some heights.
SELECT hash
FROM reorged_blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
