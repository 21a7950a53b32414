-- How many commits there are, for which chain, and beside them the number of the newest head that was written, how many
-- configurations of chains, how many loads of labels are complete, and how many rows say and count things of tokens that
-- no commit announces (append-only tables, whose count is known without reading), and whether log_topics is there to be read.
SELECT
    count() AS commits,
    max(chain_id) AS chain_id,
    (SELECT maxOrNull(sequence) FROM ingest_heads) AS sequence,
    (SELECT count() FROM chain_configurations) AS configurations,
    (SELECT count() FROM label_loads) AS label_loads,
    (SELECT count() FROM tokens) AS tokens,
    (SELECT count() FROM token_steps) AS token_steps,
    (SELECT count() FROM left_out_tables WHERE name = 'log_topics') = 0 AS log_topics
FROM ingest_commits
