-- The blocks of a range, to prove them again.
SELECT *
FROM blocks
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number
