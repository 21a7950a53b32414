-- internal_transactions_by_direction has a row for each side of a listed frame in internal_transactions.
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
    WITH arrayJoin(arrayFilter(entry -> entry.2 IS NOT NULL, [('from', from_address), ('to', coalesce(to_address, created_contract))])) AS side_of
    SELECT 1 AS side, block_number, cityHash64(formatRowNoNewline('TSV', side_of.2, side_of.1, block_number, transaction_index, frame_index, transaction_hash, block_timestamp, frame_type, call_type, from_address, to_address, created_contract, value, coalesce(execution_gas_limit, gas_limit), error, is_undone)) AS hash
    FROM internal_transactions
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
      AND NOT (frame_index = 0 AND frame_type = 'call') AND frame_type != 'reward'
    UNION ALL
    SELECT 2 AS side, block_number, cityHash64(formatRowNoNewline('TSV', *)) AS hash
    FROM internal_transactions_by_direction
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
)
GROUP BY intDiv(block_number, 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
