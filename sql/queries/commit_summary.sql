-- How many commits there are, for which chain, and beside them the number of the newest head that was written, how many
-- configurations of chains, and how many loads of labels are complete.
SELECT
    count() AS commits,
    max(chain_id) AS chain_id,
    (SELECT maxOrNull(sequence) FROM ingest_heads) AS sequence,
    (SELECT count() FROM chain_configurations) AS configurations,
    (SELECT count() FROM label_loads) AS label_loads
FROM ingest_commits
