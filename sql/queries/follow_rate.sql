-- How fast the head advanced in the last hour, and the time since the newest head.
SELECT
    toUInt64(max(head_block) - min(head_block)) AS blocks,
    toUInt64(dateDiff('millisecond', min(written_at), max(written_at))) AS millis,
    toUInt64(greatest(0, dateDiff('millisecond', max(written_at), now64(6)))) AS silent_ms
FROM
(
    SELECT head_block, written_at
    FROM ingest_heads
    ORDER BY sequence DESC
    LIMIT 3600
)
WHERE written_at >= (SELECT max(written_at) FROM ingest_heads) - INTERVAL 1 HOUR
HAVING count() > 0
