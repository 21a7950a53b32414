-- The uncles of a range of blocks, for verification.
SELECT *
FROM uncles
WHERE nephew_block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY nephew_block_number, uncle_index
