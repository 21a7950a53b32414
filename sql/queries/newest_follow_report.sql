-- The newest report of `trawl-ingest follow`, and how old it is by ClickHouse's clock.
SELECT
    run,
    event,
    interval_ms,
    node_block,
    node_silence_ms,
    head_block,
    head_age_ms,
    problems,
    toUInt64(greatest(0, dateDiff('millisecond', at, now64(6)))) AS report_age_ms
FROM follow_reports
ORDER BY at DESC
LIMIT 1
