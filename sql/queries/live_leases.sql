-- Leases that were claimed and neither given back nor taken away, and how long ago their holders last spoke.
SELECT
    lease,
    argMin(host, at) AS host,
    argMin(place, at) AS place,
    argMin(process, at) AS process,
    toUInt64(greatest(0, dateDiff('millisecond', max(at), now64(6)))) AS silent_ms
FROM ingest_leases
GROUP BY lease
HAVING countIf(event IN ('released', 'fenced')) = 0
ORDER BY lease
