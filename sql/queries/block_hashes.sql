-- The hashes of a range of settled blocks, ascending.
SELECT block_number, hash
FROM blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number
