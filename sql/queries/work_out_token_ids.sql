-- Effect of the transfers of blocks first … last on balances of single ids, block by block, as work_out_token_balances.sql has
-- it for whole tokens. Earlier blocks are in token_id_balances. Transfers do not determine a balance below zero or beyond
-- 256 bits, nor more than one of an ERC-721 id.
INSERT INTO token_id_changes
WITH
    toFixedString(unhex('0000000000000000000000000000000000000000'), 20) AS zero_address,
    toInt256('340282366920938463463374607431768211456') AS half,
    moved AS
    (
        SELECT DISTINCT token_address, token_type
        FROM token_transfers_by_block
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64} AND isNotNull(token_id)
    ),
    undetermined AS
    (
        SELECT token_address, token_type
        FROM token_statistics
        WHERE block_number < {first:UInt64} AND (token_address, token_type) GLOBAL IN (SELECT * FROM moved)
        GROUP BY token_address, token_type
        HAVING isNull(argMax(tuple(holders_count), block_number).1)
    ),
    changes AS
    (
        SELECT
            token_address,
            token_type,
            arrayJoin([(from_address, if(from_address = zero_address, 1, -1)), (to_address, if(to_address = zero_address, -1, 1))]) AS side,
            side.1 AS holder,
            assumeNotNull(transfers.token_id) AS token_id,
            block_number,
            sum(side.2 * toInt256(bitShiftRight(value, 128))) AS high,
            sum(side.2 * toInt256(bitAnd(value, toUInt256(half - 1)))) AS low
        FROM token_transfers_by_block AS transfers
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND isNotNull(transfers.token_id)
          AND (token_address, token_type) GLOBAL NOT IN undetermined
        GROUP BY token_address, token_type, side, token_id, block_number
    ),
    earlier AS
    (
        SELECT
            holder,
            token_address,
            token_type,
            token_id,
            argMax(balance, block_number) AS balance
        FROM token_id_balances
        WHERE block_number < {first:UInt64}
          AND (holder, token_address, token_type, token_id) GLOBAL IN (SELECT holder, token_address, token_type, token_id FROM changes)
        GROUP BY holder, token_address, token_type, token_id
    )
SELECT
    holder,
    token_address,
    token_type,
    token_id,
    block_number,
    after AS balance,
    is_whole AND (token_type != 'ERC-721' OR after <= 1) AS is_told
FROM
(
    SELECT
        holder,
        token_address,
        token_type,
        token_id,
        block_number,
        toUInt256(earlier.balance) AS before,
        sum(sum_low) OVER one_balance + toInt256(bitAnd(before, toUInt256(half - 1))) AS low_now,
        intDiv(low_now, half) - (low_now % half < 0) AS carry,
        sum(sum_high) OVER one_balance + toInt256(bitShiftRight(before, 128)) + carry AS high_now,
        high_now BETWEEN 0 AND half - 1 AS is_whole,
        if(is_whole, bitShiftLeft(toUInt256(high_now), 128) + toUInt256(low_now - carry * half), 0) AS after
    FROM
    (
        SELECT holder, token_address, token_type, token_id, block_number, sum(high) AS sum_high, sum(low) AS sum_low
        FROM changes
        GROUP BY holder, token_address, token_type, token_id, block_number
    ) AS net
    GLOBAL LEFT JOIN earlier USING (holder, token_address, token_type, token_id)
    WINDOW one_balance AS (PARTITION BY holder, token_address, token_type, token_id ORDER BY block_number)
) AS running
ORDER BY ALL
