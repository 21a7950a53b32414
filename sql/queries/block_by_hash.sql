-- The heights of settled blocks whose hash starts with eight given bytes, with the whole hash to compare, and the
-- heights and generations of newer blocks with that hash, on any branch.
SELECT block_number, hash, toUInt64(0) AS generation
FROM blocks
WHERE block_number IN (
    SELECT block_number
    FROM blocks_by_hash
    WHERE hash_prefix = {hash_prefix:UInt64}
)
UNION ALL
SELECT block_number, hash, generation
FROM hot_blocks
WHERE hash = toFixedString(unhex({hash:String}), 32)
