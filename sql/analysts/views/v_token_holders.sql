-- v_token_holders: who holds a token, from what trawl-ingest counted and the transfers after that; up to which block, v_counted says.
-- Tokens whose transfers do not determine balances are not in it. Reads: holders of a token.
CREATE OR REPLACE VIEW v_token_holders
(
    token_address FixedString(20) COMMENT 'the token contract, bytes',
    token_address_hex String COMMENT 'the token contract, 0x text',
    token_hex String COMMENT 'the same as token_address_hex',
    token_type LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from the shape of the transfers',
    holder FixedString(20) COMMENT 'holder, bytes',
    holder_hex String COMMENT 'holder, 0x text',
    balance UInt256 COMMENT 'smallest units; tokens of an ERC-721 contract; units over all ids of an ERC-1155 contract',
    symbol Nullable(String) COMMENT 'symbol that the contract returned; NULL if unknown',
    decimals Nullable(UInt8) COMMENT 'decimals that the contract returned; NULL if unknown',
    amount Nullable(Float64) COMMENT 'balance in whole tokens, rounded to about 15 digits; NULL for an ERC-20 of unknown decimals'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (counted_block, settled_block, last_block) FROM v_counted) AS counted
SELECT
    token_address,
    concat('0x', lower(hex(token_address))) AS token_address_hex,
    token_address_hex AS token_hex,
    token_type,
    holder,
    concat('0x', lower(hex(holder))) AS holder_hex,
    held AS balance,
    dictGetOrNull('token_facts', 'symbol', CAST(token_address AS String)) AS symbol,
    dictGetOrNull('token_facts', 'decimals', CAST(token_address AS String)) AS decimals,
    if(token_type = 'ERC-20', toFloat64(held) / exp10(dictGetOrNull('token_facts', 'decimals', CAST(token_address AS String))), toFloat64(held)) AS amount
FROM
(
    SELECT
        token_address,
        token_type,
        holder,
        maxIf(height, is_counted) AS since,
        argMaxIf(received, height, is_counted) AS so_far,
        groupArrayIf((height, received, given), NOT is_counted) AS later,
        so_far + arraySum(change -> if(change.1 > since, change.2, 0), later) - arraySum(change -> if(change.1 > since, change.3, 0), later) AS held
    FROM
    (
        SELECT
            token_address,
            token_type,
            holder,
            block_number AS height,
            balance AS received,
            toUInt256(0) AS given,
            1 AS is_counted
        FROM token_balances
        UNION ALL
        SELECT
            token_address,
            token_type,
            change.1 AS holder,
            block_number AS height,
            change.2 AS received,
            change.3 AS given,
            0 AS is_counted
        FROM
        (
            SELECT block_number, token_address, token_type, from_address, to_address, value
            FROM hot_token_transfers_by_block
            WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
              AND block_number > counted.2 AND block_number <= counted.3
            UNION ALL
            SELECT block_number, token_address, token_type, from_address, to_address, value
            FROM token_transfers_by_block
            WHERE block_number > counted.1 AND block_number <= counted.2
        )
        ARRAY JOIN [(to_address, value, toUInt256(0)), (from_address, toUInt256(0), value)] AS change
    )
    GROUP BY token_address, token_type, holder
) AS holdings
LEFT ANTI JOIN
(
    SELECT token_address, token_type
    FROM token_statistics
    GROUP BY token_address, token_type
    HAVING argMax(tuple(holders_count), block_number).1 IS NULL
) AS undetermined USING (token_address, token_type)
WHERE held > 0
  AND holder != toFixedString('', 20)
COMMENT 'balances of tokens by token: one row for each token and holder of it'
