-- search_terms: where the names, symbols, tags and ENS names of addresses begin with a text: one row for each word that one
--               begins with.
-- Read by: /api/v2/search. What an address is called now is read from tokens and address_labels: a row stays when a name is
--          replaced.
-- Order:   term, then address, which is also the cursor.
-- Written: by the views search_terms_from_tokens and search_terms_from_labels, whenever rows are inserted into tokens and
--          address_labels. Equal rows become one in a merge.
CREATE TABLE IF NOT EXISTS search_terms
(
    term    String          COMMENT 'the name in lower case, starting at one of its first eight words, cut to 100 characters; words are separated by one space, without invisible characters' CODEC(ZSTD(1)),
    address FixedString(20) COMMENT 'address with that name; raw bytes, show with hex()' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (term, address)
SETTINGS
    index_granularity = 256,
    non_replicated_deduplication_window = 1000,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    old_parts_lifetime = 10,
    max_cleanup_delay_period = 30,
    merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0
COMMENT 'names of addresses in the order of their words';
