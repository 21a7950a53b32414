-- event_signatures: events that contracts may emit, whichever contract.
-- Read by: decoding of logs of contracts without an ABI; analysts, who join it to logs by topic0.
-- Order:   hash, which is topic0 of a log.
-- Written: by trawl-ingest labels, only what is new; by trawl-ingest migrate the bundled ones (sql/signatures/events.txt); append-only.
CREATE TABLE IF NOT EXISTS event_signatures
(
    hash       FixedString(32)      COMMENT 'Keccak-256 of name and types: topic0 of its logs' CODEC(ZSTD(1)),
    signature  String               COMMENT 'the event, with parameter names and `indexed` if the source gave them, for example Transfer(address indexed from, address indexed to, uint256 value); rows of the same hash may differ in this' CODEC(ZSTD(1)),
    generation UInt64               COMMENT 'row of label_loads that it belongs to; ignored if there is no such row. 0: bundled with Trawl, and loaded signatures take precedence' CODEC(Delta, ZSTD(1)),
    source     String               COMMENT 'file that it was read from; `bundled` if bundled with Trawl' CODEC(ZSTD(1)),
    loaded_at  DateTime64(6, 'UTC') COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (hash, signature)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'events, by the hash in topic0 of their logs';
