-- How many commits there are, and for which chain.
SELECT
    count() AS commits,
    max(chain_id) AS chain_id
FROM ingest_commits
