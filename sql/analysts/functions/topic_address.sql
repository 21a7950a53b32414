-- topic_address(topic): the address in a topic, or in a word of 32 bytes: its last 20 bytes.
CREATE FUNCTION IF NOT EXISTS topic_address AS (topic) -> CAST(substring(topic, 13, 20) AS FixedString(20))
