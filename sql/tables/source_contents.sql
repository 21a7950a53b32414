-- source_contents: the texts of source files, each stored once, however many contracts have it.
-- Read by: pages of contracts, getsourcecode; analysts, by the content_hashes of contract_sources.
-- Order:   hash: files of a contract are looked up one by one. Few rows a granule, as texts are long.
-- Written: by trawl-ingest labels, before contract_sources; append-only.
CREATE TABLE IF NOT EXISTS source_contents
(
    content_hash FixedString(32)      COMMENT 'Keccak-256 of the text' CODEC(ZSTD(1)),
    content      String               COMMENT 'text of the file' CODEC(ZSTD(3)),
    loaded_at    DateTime64(6, 'UTC') COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY content_hash
SETTINGS
    index_granularity = 16,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'texts of source files by hash'
