-- token_id_holders has the newest row of each balance of an ERC-1155 id in token_id_balances. Balances that a step changes
-- while this reads are left out: those with a row above what the last finished step reached when this began.
-- Where they differ, hundred thousand heights at a time: number of balances and sum of their hashes.
WITH (SELECT max(last_block) FROM token_steps WHERE stage = 'done') AS reach
SELECT
    min(greatest(one_block, other_block)) AS first_block,
    max(greatest(one_block, other_block)) AS last_block,
    countIf(one_block > 0) AS one_rows,
    sumIf(one_hash, one_block > 0) AS one_checksum,
    countIf(other_block > 0) AS other_rows,
    sumIf(other_hash, other_block > 0) AS other_checksum
FROM
(
    SELECT
        maxIf(block_number, side = 1) AS one_block,
        maxIf(block_number, side = 2) AS other_block,
        argMaxIf(hash, block_number, side = 1) AS one_hash,
        argMaxIf(hash, block_number, side = 2) AS other_hash
    FROM
    (
        SELECT 1 AS side, sipHash128(token_address, token_id, holder) AS key, block_number,
            cityHash64(token_address, token_id, holder, block_number, balance) AS hash
        FROM token_id_balances
        WHERE token_type = 'ERC-1155' AND holder != toFixedString('', 20)
        UNION ALL
        SELECT 2 AS side, sipHash128(token_address, token_id, holder) AS key, block_number,
            cityHash64(token_address, token_id, holder, block_number, balance) AS hash
        FROM token_id_holders
    )
    GROUP BY key
    HAVING greatest(one_block, other_block) <= reach AND one_hash != other_hash
)
WHERE greatest(one_block, other_block) BETWEEN {first:UInt64} AND {last:UInt64}
  AND arrayExists(range -> greatest(one_block, other_block) BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
GROUP BY intDiv(greatest(one_block, other_block), 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
SETTINGS max_bytes_before_external_group_by = 1000000000
