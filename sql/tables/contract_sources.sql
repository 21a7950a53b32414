-- contract_sources: the source code of contracts as their compiler was given it, one row per contract and load.
-- Read by: pages of contracts, getsourcecode; analysts. Of a contract the row of the newest generation counts:
--          SELECT argMax(name, generation), argMax(compiler_version, generation) FROM contract_sources WHERE address = …
-- Order:   contract, then age.
-- Written: by trawl-ingest labels, after the texts in source_contents and before the row of address_labels that names it; append-only.
CREATE TABLE IF NOT EXISTS contract_sources
(
    address               FixedString(20)               COMMENT 'the contract' CODEC(ZSTD(1)),
    generation            UInt64                        COMMENT 'row of label_loads that it belongs to; ignored if there is no such row' CODEC(Delta, ZSTD(1)),
    name                  String                        COMMENT 'name of the contract in its source' CODEC(ZSTD(1)),
    file_path             String                        COMMENT 'file that declares the contract; empty if not stated' CODEC(ZSTD(1)),
    language              LowCardinality(String)        COMMENT 'Solidity, Vyper, Yul and so on; empty if not stated' CODEC(ZSTD(1)),
    compiler_version      String                        COMMENT 'version of the compiler with its commit, without a leading v; empty if not stated' CODEC(ZSTD(1)),
    settings              String                        COMMENT 'settings of the compiler, the JSON object of its standard input; empty if not stated' CODEC(ZSTD(1)),
    verifier              LowCardinality(String)        COMMENT 'service that compiled it and compared the code: sourcify, etherscan or blockscout; empty if none did. Trawl does not compile' CODEC(ZSTD(1)),
    match_type            LowCardinality(String)        COMMENT 'exact if the service found the metadata hash equal too, partial if not, empty if not stated' CODEC(ZSTD(1)),
    constructor_arguments String                        COMMENT 'ABI-encoded arguments of the constructor; empty for none or if not stated' CODEC(ZSTD(1)),
    verified_at           Nullable(DateTime64(6, 'UTC')) COMMENT 'time when the service verified it; NULL if not stated' CODEC(ZSTD(1)),
    paths                 Array(String)                 COMMENT 'paths of the source files' CODEC(ZSTD(1)),
    content_hashes        Array(FixedString(32))        COMMENT 'Keccak-256 of the text of each file, in the order of paths; the texts are in source_contents' CODEC(ZSTD(1)),
    loaded_at             DateTime64(6, 'UTC')          COMMENT 'time when it was loaded' CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
ORDER BY (address, generation)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'source code of contracts: compiler, settings, files'
