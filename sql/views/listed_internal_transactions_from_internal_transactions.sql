-- listed_internal_transactions_from_internal_transactions: writes listed_internal_transactions from what is inserted into
-- internal_transactions, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS listed_internal_transactions_from_internal_transactions TO listed_internal_transactions AS
SELECT
    block_number,
    transaction_index,
    frame_index
FROM internal_transactions
WHERE frame_type != 'reward' AND (frame_index > 0 OR frame_type != 'call')
