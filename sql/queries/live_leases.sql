-- Leases that were claimed and not released, the time since the last event of their holders, and the time since another
-- run fenced them: for a while after that, a holder may not have noticed. Leases fenced over an hour ago are left out.
SELECT
    lease,
    argMin(host, at) AS host,
    argMin(place, at) AS process_namespace,
    argMin(process, at) AS process,
    toUInt64(greatest(0, dateDiff('millisecond', max(at), now64(6)))) AS silent_ms,
    if(countIf(event = 'fenced') = 0, NULL, toUInt64(greatest(0, dateDiff('millisecond', minIf(at, event = 'fenced'), now64(6))))) AS fenced_ms
FROM ingest_leases
GROUP BY lease
HAVING countIf(event = 'released') = 0
   AND (countIf(event = 'fenced') = 0 OR minIf(at, event = 'fenced') > now64(6) - INTERVAL 1 HOUR)
ORDER BY lease
