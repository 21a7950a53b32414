-- The transactions of a range of blocks, for verification.
SELECT *
FROM transactions
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number, transaction_index
