-- The newest step of token statistics, and the one before: which blocks, and how far it came.
SELECT
    first_block,
    last_block,
    stage,
    transfers
FROM token_steps
ORDER BY last_block DESC, stage
LIMIT 2
