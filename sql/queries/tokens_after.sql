-- The newest metadata of contracts behind one, in the order of the contracts: of all, or of those that lack what their
-- standard has. ERC-1155 has no name, symbol or decimals, and ERC-721 no decimals: those would be called again for ever.
SELECT address, newest_block AS block_number, newest.1 AS token_type, newest.2 AS name, newest.3 AS symbol, newest.4 AS decimals, newest.5 AS total_supply
FROM
(
    SELECT
        address,
        max(block_number) AS newest_block,
        argMax(tuple(token_type, name, symbol, decimals, total_supply), block_number) AS newest
    FROM tokens
    WHERE address > toFixedString(unhex({after:String}), 20)
    GROUP BY address
    HAVING {are_all:UInt8}
        OR (newest.1 != 'ERC-1155' AND (isNull(newest.2) OR isNull(newest.3)))
        OR (newest.1 = 'ERC-20' AND isNull(newest.4))
    ORDER BY address
    LIMIT {limit:UInt64}
    SETTINGS optimize_aggregation_in_order = 1
)
ORDER BY address
