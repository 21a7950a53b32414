-- The logs of a range of blocks, for verification.
SELECT *
FROM logs_by_block
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number, log_index
