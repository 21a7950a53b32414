-- The withdrawals of a range of blocks, for verification.
SELECT *
FROM withdrawals_by_block
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number, withdrawal_index
