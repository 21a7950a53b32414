-- The newest block that readers see: of the newest head, or committed.
SELECT max(block) AS head_block
FROM
(
    SELECT toNullable(max(last_block)) AS block FROM ingest_commits HAVING count() > 0
    UNION ALL
    SELECT toNullable(head_block) AS block FROM (SELECT head_block FROM ingest_heads ORDER BY sequence DESC LIMIT 1)
)
