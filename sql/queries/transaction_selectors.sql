-- The first four bytes of what transactions call, by their places.
SELECT block_number, transaction_index, substring(input, 1, 4) AS selector, to_address
FROM transactions
WHERE (block_number, transaction_index) IN (
    SELECT place.1, toUInt32(place.2)
    FROM (SELECT arrayJoin({places:Array(Tuple(UInt64, UInt64))}) AS place)
)
UNION ALL
SELECT block_number, transaction_index, substring(input, 1, 4) AS selector, to_address
FROM hot_transactions
WHERE (block_number, transaction_index) IN (
    SELECT place.1, toUInt32(place.2)
    FROM (SELECT arrayJoin({places:Array(Tuple(UInt64, UInt64))}) AS place)
)
  AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
