-- Changes with each stage of a step of the statistics of tokens.
SELECT
    count() AS steps,
    cityHash64(max(written_at), max(last_block)) AS newest
FROM token_steps
