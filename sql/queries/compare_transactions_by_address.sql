-- transactions_by_address has a row for each participant of a transaction; a row may be stored twice.
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
    SELECT
        1 AS side,
        block_number,
        cityHash64(formatRowNoNewline('TSV', participant, block_number, transaction_index,
            (participant = from_address) + 2 * (ifNull(participant = to_address, 0) OR ifNull(participant = contract_address, 0)),
            nonce, value,
            if(has_receipt = 1 AND NOT has(lacking, 'gas_used'), gas_used, NULL),
            if(has_receipt = 1 AND NOT hasAny(lacking, ['gas_used', 'effective_gas_price']), gas_used * effective_gas_price + ifNull(l1_fee, 0) + ifNull(operator_fee, 0), NULL))) AS hash
    FROM transactions
    ARRAY JOIN arrayDistinct(arrayFilter(address -> address IS NOT NULL, [CAST(from_address AS Nullable(FixedString(20))), to_address, contract_address])) AS participant
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
    UNION ALL
    SELECT 2 AS side, block_number, cityHash64(formatRowNoNewline('TSV', *)) AS hash
    FROM (SELECT DISTINCT * FROM transactions_by_address)
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
)
GROUP BY intDiv(block_number, 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
