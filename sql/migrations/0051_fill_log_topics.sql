-- What was in logs_by_block before the view was there. A row that both write is there twice, which readers bear.
INSERT INTO log_topics
SELECT
    topic,
    topic_position,
    block_number,
    log_index
FROM logs_by_block
ARRAY JOIN
    arraySlice([CAST(topic0 AS FixedString(32)), topic1, topic2, topic3], 1, topics_count) AS topic,
    range(topics_count) AS topic_position;
