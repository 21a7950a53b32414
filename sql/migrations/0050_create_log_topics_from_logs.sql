-- log_topics_from_logs: writes log_topics from what is inserted into logs_by_block, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS log_topics_from_logs TO log_topics AS
SELECT
    topic,
    toUInt8(topic_position) AS topic_position,
    block_number,
    log_index
FROM logs_by_block
ARRAY JOIN
    arraySlice([CAST(topic0 AS FixedString(32)), topic1, topic2, topic3], 1, topics_count) AS topic,
    range(topics_count) AS topic_position;
