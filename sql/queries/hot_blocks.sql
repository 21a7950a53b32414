-- Blocks of the hot table, of given heights and generations, ascending.
SELECT block_number, hash, parent_hash, generation, total_difficulty, transactions_count, logs_count
FROM hot_blocks
WHERE arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
ORDER BY block_number
