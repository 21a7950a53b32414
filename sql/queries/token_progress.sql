-- The newest step of token statistics, and the one before: blocks and stage.
SELECT
    first_block,
    last_block,
    stage,
    transfers
FROM token_steps
ORDER BY last_block DESC, stage
LIMIT 2
