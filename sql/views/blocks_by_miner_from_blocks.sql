-- blocks_by_miner_from_blocks: writes blocks_by_miner from what is inserted into blocks, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS blocks_by_miner_from_blocks TO blocks_by_miner AS
SELECT
    toUInt8(NOT has(lacking, 'miner')) AS has_miner,
    producer AS miner,
    block_number
FROM blocks
