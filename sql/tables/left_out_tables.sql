-- left_out_tables: the orders that an operator chose to be without.
-- Read by: trawl-api, which plans without them, and trawl-ingest, which does not write them.
-- Order:   by name; there are few.
-- Written: by `trawl-ingest migrate --without` and `--with`.
CREATE TABLE IF NOT EXISTS left_out_tables
(
    name        String               COMMENT 'name of the table' CODEC(ZSTD(1)),
    left_out_at DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time when it was left out' CODEC(ZSTD(1))
)
ENGINE = MergeTree
ORDER BY name
COMMENT 'tables that an operator left out';
