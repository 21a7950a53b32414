-- Reorged blocks strictly below a height, from the highest down. A block is left out while it is among the newest ones
-- again, and if a later block has it as an uncle.
SELECT *
FROM reorged_blocks
WHERE block_number < {before:UInt64}
  AND block_number >= {from:UInt64}
  AND hash NOT IN (
    SELECT hash
    FROM hot_blocks
    WHERE arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
)
  AND hash NOT IN (
    SELECT hash
    FROM uncles
    WHERE block_number IN (SELECT block_number FROM reorged_blocks WHERE block_number < {before:UInt64} AND block_number >= {from:UInt64})
)
ORDER BY block_number DESC, hash DESC
LIMIT 1 BY block_number, hash
LIMIT {limit:UInt64}
