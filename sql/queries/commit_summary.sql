-- How many commits there are, for which chain, and beside them the number of the newest head that was written and how
-- many configurations of chains.
SELECT
    count() AS commits,
    max(chain_id) AS chain_id,
    (SELECT maxOrNull(sequence) FROM ingest_heads) AS sequence,
    (SELECT count() FROM chain_configurations) AS configurations
FROM ingest_commits
