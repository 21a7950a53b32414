ALTER TABLE transactions ADD COLUMN IF NOT EXISTS lacking Array(LowCardinality(String)) COMMENT 'columns the source did not have; what they hold here says nothing' CODEC(ZSTD(1))
