-- The packed rows of a range of the newest blocks of one generation, ascending.
SELECT generation, block_number, rows
FROM hot_rows
WHERE generation = {generation:UInt64}
  AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
ORDER BY block_number
LIMIT 1 BY block_number
