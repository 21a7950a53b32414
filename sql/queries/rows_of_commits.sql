-- How many rows a table has of each committed range that it has any of. Reads one column of the whole table.
SELECT first_block, count() AS rows
FROM
(
    SELECT toUInt8(0) AS one, {column:Identifier} AS block
    FROM {table:Identifier}
) AS stored
GLOBAL ASOF JOIN
(
    SELECT toUInt8(0) AS one, first_block, last_block
    FROM ingest_commits
    WHERE (first_block, last_block, run) GLOBAL NOT IN (SELECT each.1, each.2, each.3 FROM (SELECT arrayJoin(replaced) AS each FROM ingest_commits))
) AS commits ON stored.one = commits.one AND stored.block >= commits.first_block
WHERE block <= last_block
GROUP BY first_block
