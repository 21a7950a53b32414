-- address_labels: what operators know of addresses: names, tags, ENS names, symbols of tokens, and that a contract has a verified ABI or source.
-- Read by: wherever an address is shown; analysts. Of an address, label_type and slug the newest row counts:
--          SELECT slug, argMax(value, generation) FROM address_labels WHERE address = … GROUP BY label_type, slug
-- Order:   address, then what is said of it, then age.
-- Written: by trawl-ingest labels, only what is new; append-only.
CREATE TABLE IF NOT EXISTS address_labels
(
    address    FixedString(20)        COMMENT 'the address' CODEC(ZSTD(1)),
    label_type LowCardinality(String) COMMENT 'name, ens_domain_name, public_tag, contract_name, abi, source or token' CODEC(ZSTD(1)),
    slug       String                 COMMENT 'short name that identifies a public_tag; empty for other types' CODEC(ZSTD(1)),
    generation UInt64                 COMMENT 'row of label_loads that it belongs to; ignored if there is no such row' CODEC(Delta, ZSTD(1)),
    value      String                 COMMENT 'the name, the text of the tag, for abi the Keccak-256 of the ABI (its entries in contract_abis have the same generation), for source that of the source (its row in contract_sources has the same generation), or for token its symbol; the newest row of an address, label_type and slug applies, and an empty text removes the label' CODEC(ZSTD(1)),
    tag_type   LowCardinality(String) COMMENT 'for a public_tag: name, generic, classifier, information, note or protocol' CODEC(ZSTD(1)),
    ordinal    UInt32                 COMMENT 'for a public_tag: sort order, highest first' CODEC(ZSTD(1)),
    meta       String                 COMMENT 'for a public_tag: further members as a JSON object; for a token: decimals, type and icon_url if known; empty for none' CODEC(ZSTD(1)),
    source     String                 COMMENT 'file that it was read from' CODEC(ZSTD(1)),
    loaded_at  DateTime64(6, 'UTC')   COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (address, label_type, slug, generation)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'names, tags, ENS names, verified ABIs and sources of addresses';
