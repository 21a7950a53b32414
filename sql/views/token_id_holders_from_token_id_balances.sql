-- token_id_holders_from_token_id_balances: writes token_id_holders from what is inserted into token_id_balances, in the same
-- statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS token_id_holders_from_token_id_balances TO token_id_holders AS
SELECT
    token_address,
    token_id,
    holder,
    block_number,
    balance
FROM token_id_balances
WHERE token_type = 'ERC-1155' AND holder != toFixedString('', 20);
