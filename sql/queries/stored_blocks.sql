-- The blocks of a range, for verification.
SELECT *
FROM blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number
