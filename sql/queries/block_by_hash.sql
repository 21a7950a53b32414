-- The heights of settled blocks whose hash starts with eight given bytes, with the whole hash to compare.
SELECT block_number, hash, toUInt64(0) AS generation
FROM blocks
WHERE block_number GLOBAL IN (
    SELECT block_number
    FROM blocks_by_hash
    WHERE hash_prefix = {hash_prefix:UInt64}
)
