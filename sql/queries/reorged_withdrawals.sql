-- The withdrawals of a reorged block, from the highest index down, below an index.
SELECT *
FROM reorged_withdrawals
WHERE block_hash = toFixedString(unhex({hash:String}), 32)
  AND withdrawal_index < {before:UInt64}
ORDER BY withdrawal_index DESC
LIMIT 1 BY withdrawal_index
LIMIT {limit:UInt64}
