ALTER TABLE ingest_commits COMMENT COLUMN source 'kind of source: rpc, dump, cryo, etl, era1'
