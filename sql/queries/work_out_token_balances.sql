-- Effect of the transfers of blocks first … last on balances, block by block. Earlier blocks are in token_balances.
-- Sums are kept in halves of 128 bits, signed, so that no amount that a contract reports overflows them. Transfers do
-- not determine a balance below zero or beyond 256 bits, of a token or of one of its ids (token_id_changes), nor one of
-- tokens minted in bulk without transfers (ERC-2309).
INSERT INTO token_balance_changes
WITH
    toFixedString(unhex('0000000000000000000000000000000000000000'), 20) AS zero_address,
    toInt256('340282366920938463463374607431768211456') AS half,
    moved AS
    (
        SELECT DISTINCT token_address, token_type
        FROM token_transfers_by_block
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
    ),
    came AS
    (
        SELECT address AS token_address, 'ERC-721' AS token_type, block_number
        FROM logs_by_block
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND topic0 = unhex('deaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d')
    ),
    newest AS
    (
        SELECT
            token_address,
            token_type,
            argMax(tuple(holders_count, total_supply), block_number) AS known
        FROM token_statistics
        WHERE block_number < {first:UInt64}
          AND (token_address, token_type) GLOBAL IN (SELECT * FROM moved UNION ALL SELECT token_address, token_type FROM came)
        GROUP BY token_address, token_type
    ),
    undetermined AS (SELECT token_address, token_type FROM newest WHERE isNull(known.1)),
    changes AS
    (
        SELECT
            token_address,
            token_type,
            arrayJoin([(from_address, if(from_address = zero_address, 1, -1)), (to_address, if(to_address = zero_address, -1, 1))]) AS side,
            side.1 AS holder,
            block_number,
            sum(side.2 * toInt256(bitShiftRight(value, 128))) AS high,
            sum(side.2 * toInt256(bitAnd(value, toUInt256(half - 1)))) AS low
        FROM token_transfers_by_block
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (token_address, token_type) GLOBAL NOT IN undetermined
        GROUP BY token_address, token_type, side, block_number
    ),
    earlier AS
    (
        SELECT
            token_address,
            token_type,
            holder,
            argMax(balance, block_number) AS balance
        FROM token_balances
        WHERE block_number < {first:UInt64}
          AND (token_address, token_type, holder) GLOBAL IN (SELECT token_address, token_type, holder FROM changes)
        GROUP BY token_address, token_type, holder
    )
SELECT
    token_address,
    token_type,
    holder,
    block_number,
    lagInFrame(after, 1, before) OVER one_holder AS balance_before,
    after AS balance,
    is_whole AS is_told,
    ifNull(known.1, 0) AS holders_before,
    ifNull(known.2, 0) AS supply_before
FROM
(
    SELECT
        token_address,
        token_type,
        holder,
        block_number,
        toUInt256(earlier.balance) AS before,
        sum(sum_low) OVER one_holder + toInt256(bitAnd(before, toUInt256(half - 1))) AS low_now,
        intDiv(low_now, half) - (low_now % half < 0) AS carry,
        sum(sum_high) OVER one_holder + toInt256(bitShiftRight(before, 128)) + carry AS high_now,
        high_now BETWEEN 0 AND half - 1 AS is_whole,
        if(is_whole, bitShiftLeft(toUInt256(high_now), 128) + toUInt256(low_now - carry * half), 0) AS after
    FROM
    (
        SELECT token_address, token_type, holder, block_number, sum(high) AS sum_high, sum(low) AS sum_low
        FROM changes
        GROUP BY token_address, token_type, holder, block_number
    ) AS net
    GLOBAL LEFT JOIN earlier USING (token_address, token_type, holder)
    WINDOW one_holder AS (PARTITION BY token_address, token_type, holder ORDER BY block_number)
) AS running
GLOBAL LEFT JOIN newest USING (token_address, token_type)
WINDOW one_holder AS (PARTITION BY token_address, token_type, holder ORDER BY block_number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
UNION ALL
SELECT token_address, token_type, zero_address, block_number, 0, 0, 0, 0, 0
FROM came
WHERE (token_address, token_type) GLOBAL NOT IN undetermined
UNION ALL
SELECT DISTINCT token_address, token_type, zero_address, block_number, 0, 0, 0, 0, 0
FROM token_id_changes
WHERE is_told = 0
ORDER BY ALL
