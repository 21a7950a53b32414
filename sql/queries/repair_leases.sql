-- How many leases were claimed by runs that take something back of what is committed, and how many of them were neither given back nor taken
-- away. The names of leases begin with those of their runs.
SELECT
    count() AS claimed,
    countIf(NOT is_over) AS live
FROM
(
    SELECT
        lease,
        countIf(event IN ('released', 'fenced')) > 0 AS is_over
    FROM ingest_leases
    WHERE startsWith(lease, {repair:String}) OR startsWith(lease, {fill:String})
    GROUP BY lease
)
