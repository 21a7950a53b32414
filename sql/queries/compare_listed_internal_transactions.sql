-- listed_internal_transactions has the positions of the listed frames in internal_transactions; a row may be stored twice.
-- Where they differ, hundred thousand heights at a time: number of rows and sum of their hashes. Rows are hashed as
-- text: a hash of columns would be NULL where one of them is.
SELECT
    min(block_number) AS first_block,
    max(block_number) AS last_block,
    countIf(side = 1) AS one_rows,
    sumIf(hash, side = 1) AS one_checksum,
    countIf(side = 2) AS other_rows,
    sumIf(hash, side = 2) AS other_checksum
FROM
(
    SELECT 1 AS side, block_number, cityHash64(formatRowNoNewline('TSV', block_number, transaction_index, frame_index)) AS hash
    FROM internal_transactions
    WHERE frame_type != 'reward' AND (frame_index > 0 OR frame_type != 'call')
      AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
    UNION ALL
    SELECT 2 AS side, block_number, cityHash64(formatRowNoNewline('TSV', *)) AS hash
    FROM (SELECT DISTINCT * FROM listed_internal_transactions)
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
)
GROUP BY intDiv(block_number, 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
