-- log_topics holds each log of logs_by_block under each of its topics; a row may be stored twice.
-- Where they differ, hundred thousand heights at a time: number of rows and sum of their hashes.
SELECT
    min(block_number) AS first_block,
    max(block_number) AS last_block,
    countIf(side = 1) AS one_rows,
    sumIf(hash, side = 1) AS one_checksum,
    countIf(side = 2) AS other_rows,
    sumIf(hash, side = 2) AS other_checksum
FROM
(
    SELECT 1 AS side, block_number, cityHash64(topic, toUInt8(topic_position), block_number, log_index) AS hash
    FROM logs_by_block
    ARRAY JOIN
        arraySlice([CAST(topic0 AS FixedString(32)), topic1, topic2, topic3], 1, topics_count) AS topic,
        range(topics_count) AS topic_position
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
    UNION ALL
    SELECT 2 AS side, block_number, cityHash64(topic, toUInt8(topic_position), block_number, log_index) AS hash
    FROM (SELECT DISTINCT topic, topic_position, block_number, log_index FROM log_topics)
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
)
GROUP BY intDiv(block_number, 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
