-- chain_configurations: which rules a chain follows from which block or time on, as its genesis file states them.
-- Read by: trawl-api, before it runs a call: the newest row of the chain counts.
-- Order:   chain, then time.
-- Written: one row when trawl-ingest is given a genesis file whose configuration is not the newest here; never changed.
CREATE TABLE IF NOT EXISTS chain_configurations
(
    chain_id      UInt64 COMMENT 'the chain' CODEC(ZSTD(1)),
    configuration String COMMENT 'the member config of the genesis file, JSON in the form of geth' CODEC(ZSTD(1)),
    recorded_at   DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'when, by the clock of ClickHouse' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (chain_id, recorded_at)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1
COMMENT 'rules of chains, from their genesis files'
