-- block_at('2024-03-01'), block_at('2024-03-01 12:00:00'): the lowest block with this time (UTC) or a later one, in the database of
-- the statement.
CREATE FUNCTION IF NOT EXISTS block_at AS (time) -> (SELECT min(block_number) FROM v_blocks WHERE timestamp >= toDateTime64(time, 6, 'UTC'))
