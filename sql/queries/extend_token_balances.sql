-- Applies the changes of the current step to balances, up to where transfers of a token stop determining them.
INSERT INTO token_balances
SELECT
    token_address,
    token_type,
    holder,
    max(changes.block_number) AS block_number,
    argMax(balance, changes.block_number) AS balance
FROM
(
    SELECT
        *,
        min(if(is_told = 1, 18446744073709551615, block_number)) OVER (PARTITION BY token_address, token_type) AS undetermined_from
    FROM token_balance_changes
) AS changes
WHERE changes.block_number < undetermined_from
GROUP BY token_address, token_type, holder
ORDER BY ALL
