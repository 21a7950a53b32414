-- token_id_balances adds up, over the ids of a token that a holder has, to the balance in token_balances; and the owner in the
-- row of an ERC-721 id is who has it. Balances that a step changes while this reads are left out: those with a row above what
-- the last finished step reached when this began.
-- Where they differ, hundred thousand heights at a time: number of balances and owners, and sum of their hashes.
WITH
    (SELECT max(last_block) FROM token_steps WHERE stage = 'done') AS reach,
    toFixedString(unhex('0000000000000000000000000000000000000000'), 20) AS zero_address,
    newest AS
    (
        SELECT
            holder,
            token_address,
            token_type,
            token_id,
            max(block_number) AS since,
            argMax(tuple(balance, owner), block_number) AS had
        FROM token_id_balances
        GROUP BY holder, token_address, token_type, token_id
    )
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
        SELECT 1 AS side, sipHash128(holder, token_address, token_type) AS key, block_number,
            if(balance = 0, 0, cityHash64(holder, token_address, token_type, balance)) AS hash
        FROM token_balances
        WHERE token_type != 'ERC-20'
        UNION ALL
        SELECT 2 AS side, sipHash128(holder, token_address, token_type) AS key, max(since) AS block_number,
            if(sum(had.1) = 0, 0, cityHash64(holder, token_address, token_type, sum(had.1))) AS hash
        FROM newest
        GROUP BY holder, token_address, token_type
        UNION ALL
        SELECT 1 AS side, sipHash128(token_address, token_id) AS key, since AS block_number,
            if(had.2 = zero_address, 0, cityHash64(token_address, token_id, had.2)) AS hash
        FROM newest
        WHERE holder = zero_address AND token_type = 'ERC-721'
        UNION ALL
        SELECT 2 AS side, sipHash128(token_address, token_id) AS key, max(since) AS block_number,
            anyIf(cityHash64(token_address, token_id, holder), holder != zero_address AND had.1 > 0) AS hash
        FROM newest
        WHERE token_type = 'ERC-721'
        GROUP BY token_address, token_id
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
