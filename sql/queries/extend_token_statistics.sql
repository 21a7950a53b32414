-- Holders and supply of the tokens of the current step; NULL from where transfers stop determining them. The zero
-- address stands for the supply, minted and not burnt.
INSERT INTO token_statistics
SELECT
    token_address,
    token_type,
    if(is_told, max(changes.block_number), any(undetermined_from)) AS block_number,
    if(
        is_told,
        toNullable(toUInt64(any(holders_before) + sumIf(toInt64(balance > 0) - toInt64(balance_before > 0), holder != zero_address))),
        NULL
    ) AS holders_count,
    if(
        is_told AND token_type != 'ERC-1155',
        toNullable(if(countIf(holder = zero_address) = 0, any(supply_before), argMaxIf(balance, changes.block_number, holder = zero_address))),
        NULL
    ) AS total_supply
FROM
(
    SELECT
        *,
        toFixedString(unhex('0000000000000000000000000000000000000000'), 20) AS zero_address,
        min(if(is_told = 1, 18446744073709551615, block_number)) OVER (PARTITION BY token_address, token_type) AS undetermined_from,
        undetermined_from = 18446744073709551615 AS is_determined_throughout
    FROM token_balance_changes
) AS changes
GROUP BY token_address, token_type, is_determined_throughout AS is_told
ORDER BY ALL
