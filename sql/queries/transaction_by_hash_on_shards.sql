-- transaction_by_hash.sql where tables are on shards. A scalar sub-query is a constant to a Distributed table, which asks the shards of
-- its blocks alone; on one server the set is cheaper. Two transactions share eight bytes of their hashes, or more by force.
WITH (
    SELECT groupArray((block_number, transaction_index))
    FROM transactions_by_hash
    WHERE hash_prefix = {hash_prefix:UInt64}
) AS positions
SELECT *
FROM transactions
WHERE (
    block_number IN (positions[1].1, positions[-1].1)
    OR (length(positions) > 2 AND has(positions, (block_number, transaction_index)))
)
  AND hash = toFixedString(unhex({hash:String}), 32)
