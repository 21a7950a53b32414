-- token_balances_by_holder_from_token_balances: writes token_balances_by_holder from what is inserted into token_balances, in the
-- same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS token_balances_by_holder_from_token_balances TO token_balances_by_holder AS
SELECT
    holder,
    token_address,
    token_type,
    block_number,
    balance
FROM token_balances;
