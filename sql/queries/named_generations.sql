-- The rows of the hot tables that heads ever named: the range of heights of each generation.
SELECT
    segment.generation AS generation,
    min(segment.first_block) AS first_block,
    max(segment.last_block) AS last_block
FROM ingest_heads
ARRAY JOIN segments AS segment
GROUP BY generation
