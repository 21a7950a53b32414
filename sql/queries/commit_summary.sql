-- Number of commits and their chain, sequence of the newest head, number of chain configurations, number of complete
-- loads of labels, number of rows of token metadata and statistics, which no commit announces (append-only tables,
-- whose count is known without a read), and whether the optional tables exist.
SELECT
    count() AS commits,
    max(chain_id) AS chain_id,
    (SELECT maxOrNull(sequence) FROM ingest_heads) AS sequence,
    (SELECT count() FROM chain_configurations) AS configurations,
    (SELECT count() FROM label_loads) AS label_loads,
    (SELECT count() FROM tokens) AS tokens,
    (SELECT count() FROM token_steps) AS token_steps,
    (SELECT count() FROM left_out_tables WHERE name = 'log_topics') = 0 AS log_topics,
    (SELECT count() FROM left_out_tables WHERE name = 'transactions_by_address') = 0 AS transactions_by_address,
    (SELECT count() FROM left_out_tables WHERE name = 'token_balances_by_holder') = 0 AS token_balances_by_holder,
    (SELECT count() FROM left_out_tables WHERE name = 'blocks_by_miner') = 0 AS blocks_by_miner,
    (SELECT count() FROM left_out_tables WHERE name = 'listed_internal_transactions') = 0 AS listed_internal_transactions
FROM ingest_commits
