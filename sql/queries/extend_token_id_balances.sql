-- Applies the changes of the current step to balances of single ids, up to where transfers of a token stop determining them.
-- An id of an ERC-721 contract that is moved gets a row of its own under the zero address, with its owner; one of an ERC-1155
-- contract when it is minted or burnt.
INSERT INTO token_id_balances
WITH
    toFixedString(unhex('0000000000000000000000000000000000000000'), 20) AS zero_address,
    undetermined AS
    (
        SELECT token_address, token_type, min(block_number) AS undetermined_from
        FROM token_balance_changes
        WHERE is_told = 0
        GROUP BY token_address, token_type
    ),
    last AS
    (
        SELECT
            holder,
            token_address,
            token_type,
            token_id,
            max(changes.block_number) AS block_number,
            argMax(balance, changes.block_number) AS balance
        FROM token_id_changes AS changes
        GLOBAL LEFT JOIN undetermined USING (token_address, token_type)
        -- Block 0 has no transfers.
        WHERE undetermined_from = 0 OR changes.block_number < undetermined_from
        GROUP BY holder, token_address, token_type, token_id
    )
SELECT
    holder,
    token_address,
    token_type,
    token_id,
    block_number,
    balance,
    zero_address AS owner
FROM last
WHERE holder != zero_address OR token_type != 'ERC-721'
UNION ALL
SELECT
    zero_address,
    token_address,
    token_type,
    token_id,
    max(last.block_number),
    sumIf(balance, holder != zero_address),
    anyIf(holder, holder != zero_address AND balance > 0)
FROM last
WHERE token_type = 'ERC-721'
GROUP BY token_address, token_type, token_id
-- From the zero address to itself nothing moves.
HAVING max(holder != zero_address)
ORDER BY ALL
