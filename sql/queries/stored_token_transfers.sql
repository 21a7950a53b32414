-- The token transfers of a range of blocks, for verification.
SELECT *
FROM token_transfers_by_block
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number, log_index, batch_index
