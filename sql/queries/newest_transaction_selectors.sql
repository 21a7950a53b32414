-- Selectors of transactions of hot blocks, by their positions.
SELECT block_number, transaction_index, substring(input, 1, 4) AS selector, to_address
FROM hot_transactions
WHERE (block_number, transaction_index) IN {positions:Array(Tuple(UInt64, UInt32))}
  AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
