ALTER TABLE ingest_commits ADD COLUMN IF NOT EXISTS last_total_difficulty Nullable(UInt256) COMMENT 'total difficulty of the last block; NULL if the source did not give it' CODEC(ZSTD(1))
