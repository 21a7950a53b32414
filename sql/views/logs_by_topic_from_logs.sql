-- logs_by_topic_from_logs: writes logs_by_topic from what is inserted into logs_by_block, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS logs_by_topic_from_logs TO logs_by_topic AS
SELECT
    topic,
    toUInt8(topic_position) AS topic_position,
    block_number,
    log_index,
    address,
    transaction_index,
    transaction_hash,
    block_hash,
    block_timestamp,
    topics_count,
    topic0,
    topic1,
    topic2,
    topic3,
    data
FROM logs_by_block
ARRAY JOIN
    arraySlice([topic1, topic2, topic3], 1, greatest(topics_count, 1) - 1) AS topic,
    range(1, greatest(topics_count, 1)) AS topic_position
WHERE substring(topic, 1, 12) = unhex('000000000000000000000000') AND substring(topic, 13, 8) != unhex('0000000000000000');
