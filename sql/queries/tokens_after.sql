-- The newest metadata of contracts behind one, in the order of the contracts: of all, or of those that lack something.
SELECT address, asked AS block_number, newest.1 AS token_type, newest.2 AS name, newest.3 AS symbol, newest.4 AS decimals, newest.5 AS total_supply
FROM
(
    SELECT
        address,
        max(block_number) AS asked,
        argMax(tuple(token_type, name, symbol, decimals, total_supply), block_number) AS newest
    FROM tokens
    WHERE address > toFixedString(unhex({after:String}), 20)
    GROUP BY address
    HAVING {is_whole:UInt8} OR isNull(newest.2) OR isNull(newest.3) OR isNull(newest.4)
    ORDER BY address
    LIMIT {limit:UInt64}
    SETTINGS optimize_aggregation_in_order = 1
)
ORDER BY address
