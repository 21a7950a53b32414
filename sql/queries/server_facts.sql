-- The version and the clock of the server.
SELECT
    version() AS version,
    toInt64(toUnixTimestamp64Milli(now64(3))) AS clock_ms
