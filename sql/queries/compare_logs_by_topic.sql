-- logs_by_topic holds each log of logs_by_block under each topic that may hold an address; a row may be stored twice.
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
    SELECT 1 AS side, block_number, cityHash64(topic, toUInt8(topic_position), block_number, log_index, address, transaction_index, transaction_hash, block_hash,
        block_timestamp, topics_count, topic0, topic1, topic2, topic3, data) AS hash
    FROM logs_by_block
    ARRAY JOIN
        arraySlice([topic1, topic2, topic3], 1, greatest(topics_count, 1) - 1) AS topic,
        range(1, greatest(topics_count, 1)) AS topic_position
    WHERE substring(topic, 1, 12) = unhex('000000000000000000000000') AND substring(topic, 13, 8) != unhex('0000000000000000')
      AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
    UNION ALL
    SELECT DISTINCT 2 AS side, block_number, cityHash64(topic, toUInt8(topic_position), block_number, log_index, address, transaction_index, transaction_hash, block_hash,
        block_timestamp, topics_count, topic0, topic1, topic2, topic3, data) AS hash
    FROM logs_by_topic
    WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
      AND arrayExists(range -> block_number BETWEEN range.1 AND range.2, {ranges:Array(Tuple(UInt64, UInt64))})
)
GROUP BY intDiv(block_number, 100000)
HAVING one_rows != other_rows OR one_checksum != other_checksum
ORDER BY first_block
