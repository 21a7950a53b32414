-- token_transfers has a row for each sender and recipient in token_transfers_by_block.
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
    WITH arrayJoin(arrayDistinct([from_address, to_address])) AS participant
    SELECT 1 AS side, block_number, cityHash64(formatRowNoNewline('TSV', participant, *)) AS hash
    FROM token_transfers_by_block
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
    UNION ALL
    SELECT 2 AS side, block_number, cityHash64(formatRowNoNewline('TSV', *)) AS hash
    FROM token_transfers
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
)
GROUP BY intDiv(block_number, 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
