-- contract_abis: the ABIs of contracts, one row per entry.
-- Read by: decoding of logs and names of methods; analysts. Of a contract the entries of its newest generation count:
--          SELECT argMax(entries, generation) FROM (SELECT generation, groupArray(entry) AS entries
--          FROM contract_abis WHERE address = … GROUP BY generation)
-- Order:   contract, then selector, so that one log needs one entry and not the whole ABI.
-- Written: by trawl-ingest labels, before the row of address_labels that names them; append-only.
CREATE TABLE IF NOT EXISTS contract_abis
(
    address    FixedString(20)        COMMENT 'the contract' CODEC(ZSTD(1)),
    selector   FixedString(4)         COMMENT 'first four bytes of the Keccak-256 of the signature; zero for entries without one' CODEC(ZSTD(1)),
    generation UInt64                 COMMENT 'row of label_loads that it belongs to; ignored if there is no such row' CODEC(Delta, ZSTD(1)),
    position   UInt32                 COMMENT 'position in the ABI, from 0' CODEC(Delta, ZSTD(1)),
    entry_type LowCardinality(String) COMMENT 'function, event, error, constructor, fallback or receive' CODEC(ZSTD(1)),
    signature  String                 COMMENT 'name and types, as the ABI specification hashes them; empty for entries without a name' CODEC(ZSTD(1)),
    entry      String                 COMMENT 'the entry as JSON' CODEC(ZSTD(1)),
    loaded_at  DateTime64(6, 'UTC')   COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (address, selector, generation, position)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'entries of contract ABIs; for each contract those of the newest generation apply';
