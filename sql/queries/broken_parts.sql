-- Tables of which ClickHouse set a broken part aside whose rows no other part has. A merged part that broke is made up
-- for by those it was made of, while they are there: then the outermost of them are active again.
SELECT DISTINCT table
FROM
(
    SELECT toUInt32(1) AS shard, table, partition_id, min_block_number, max_block_number
    FROM system.detached_parts
    WHERE database = currentDatabase() AND startsWith(reason, 'broken')
) AS broken
LEFT JOIN
(
    SELECT toUInt32(1) AS shard, table, groupArray((partition_id, min_block_number, max_block_number)) AS active_parts
    FROM system.parts
    WHERE database = currentDatabase() AND active
    GROUP BY shard, table
) AS parts USING (shard, table)
WHERE NOT ifNull(
    arrayExists(part -> part.1 = partition_id AND part.2 <= min_block_number AND part.3 >= min_block_number, active_parts)
    AND arrayExists(part -> part.1 = partition_id AND part.2 <= max_block_number AND part.3 >= max_block_number, active_parts), 0)
ORDER BY table
