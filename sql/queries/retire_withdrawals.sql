-- Stores the withdrawals of blocks that another branch replaced.
INSERT INTO reorged_withdrawals
SELECT blocks.hash, withdrawals.* EXCEPT (generation)
FROM hot_withdrawals AS withdrawals
INNER JOIN hot_blocks AS blocks ON blocks.block_number = withdrawals.block_number AND blocks.generation = withdrawals.generation
WHERE withdrawals.block_number BETWEEN {first:UInt64} AND {last:UInt64}
  AND withdrawals.generation = {generation:UInt64}
ORDER BY ALL
