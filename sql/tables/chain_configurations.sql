-- chain_configurations: which rules a chain follows: from which block or time on, as its genesis file states them, and of which family it is.
-- Read by: trawl-api, before it runs a call or splits a fee; trawl-ingest, before it reads a block: the newest row of the chain counts.
-- Order:   chain, then time.
-- Written: one row when trawl-ingest is given a genesis file or a family that is not the newest here, with the newest of the other; never changed.
CREATE TABLE IF NOT EXISTS chain_configurations
(
    chain_id      UInt64 COMMENT 'the chain' CODEC(ZSTD(1)),
    configuration String COMMENT 'JSON member `config` of the genesis file, in the format of geth; empty if none was given' CODEC(ZSTD(1)),
    family        String COMMENT 'family of the chain, as given with --chain-family; empty if none was given: then chain_id determines it' CODEC(ZSTD(1)),
    recorded_at   DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time, by the clock of ClickHouse' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (chain_id, recorded_at)
SETTINGS
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'rules of chains, as given by genesis files and flags'
