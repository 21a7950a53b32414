-- Number of commits and their chain, sequence of the newest head, number of chain configurations, number of complete
-- loads of labels, number of rows of token metadata and statistics, which no commit announces (append-only tables,
-- whose count is known without a read), and the optional tables that do not exist: a row for each table.
-- As scalar subqueries, which are statements of their own, it takes more than twice the time, at each look of each API.
SELECT 'ingest_commits' AS source, count() AS rows, max(chain_id) AS value, '' AS names FROM ingest_commits
UNION ALL
SELECT 'ingest_heads', 0, maxOrNull(sequence), '' FROM ingest_heads
UNION ALL
SELECT 'chain_configurations', count(), NULL, '' FROM chain_configurations
UNION ALL
SELECT 'label_loads', count(), NULL, '' FROM label_loads
UNION ALL
SELECT 'tokens', count(), NULL, '' FROM tokens
UNION ALL
SELECT 'token_steps', count(), NULL, '' FROM token_steps
UNION ALL
SELECT 'left_out_tables', 0, NULL, arrayStringConcat(groupUniqArray(name), ',') FROM left_out_tables
