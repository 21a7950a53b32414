-- Selectors of transactions of settled blocks, by their positions.
SELECT block_number, transaction_index, substring(input, 1, 4) AS selector, to_address
FROM transactions
WHERE (block_number, transaction_index) IN {positions:Array(Tuple(UInt64, UInt32))}
