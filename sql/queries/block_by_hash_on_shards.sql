-- block_by_hash.sql where tables are on shards; see transaction_by_hash_on_shards.sql.
WITH (
    SELECT groupArray(block_number)
    FROM blocks_by_hash
    WHERE hash_prefix = {hash_prefix:UInt64}
) AS heights
SELECT block_number, hash, toUInt64(0) AS generation
FROM blocks
WHERE block_number IN (heights[1], heights[-1])
   OR (length(heights) > 2 AND has(heights, block_number))
