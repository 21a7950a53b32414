-- What was proven of the loaded blocks.
SELECT verdict, count() AS blocks, min(block_number), max(block_number) FROM block_verdicts GROUP BY verdict ORDER BY verdict
