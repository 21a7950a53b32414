-- How many commits there are, for which chain, and the number of the newest head that was written beside them.
SELECT
    count() AS commits,
    max(chain_id) AS chain_id,
    (SELECT maxOrNull(sequence) FROM ingest_heads) AS sequence
FROM ingest_commits
