-- How many commits there are, for which chain, the number of the newest head that was written beside them, and how many
-- rows say things of addresses that no commit announces (append-only tables, whose count is known without reading).
SELECT
    count() AS commits,
    max(chain_id) AS chain_id,
    (SELECT maxOrNull(sequence) FROM ingest_heads) AS sequence,
    (SELECT count() FROM tokens) AS facts
FROM ingest_commits
