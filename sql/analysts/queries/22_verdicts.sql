-- What was proven of the loaded blocks: of several verdicts of a block the newest counts.
SELECT newest AS verdict, count() AS blocks, min(block_number), max(block_number)
FROM (SELECT block_number, argMax(verdict, decided_at) AS newest FROM block_verdicts GROUP BY block_number)
GROUP BY verdict ORDER BY verdict
