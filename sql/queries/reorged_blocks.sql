-- Reorged blocks strictly below a height, from the highest down. A block is left out while it is among the newest ones
-- again, which are given by the first eight bytes of their hashes, and if a later block has it as an uncle.
SELECT *
FROM reorged_blocks
WHERE block_number < {before:UInt64}
  AND block_number >= {from:UInt64}
  AND NOT has({newest:Array(UInt64)}, reinterpretAsUInt64(reverse(substring(hash, 1, 8))))
  AND hash GLOBAL NOT IN (
    SELECT hash
    FROM uncles
    WHERE block_number GLOBAL IN (SELECT block_number FROM reorged_blocks WHERE block_number < {before:UInt64} AND block_number >= {from:UInt64})
)
ORDER BY block_number DESC, hash DESC
LIMIT 1 BY block_number, hash
LIMIT {limit:UInt64}
