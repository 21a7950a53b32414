-- Blocks {first} to {last} as cryo's dataset `blocks` with all columns.
SELECT
    hash AS block_hash,
    parent_hash,
    miner AS author,
    state_root,
    transactions_root,
    receipts_root,
    toUInt32(block_number) AS block_number,
    gas_used,
    extra_data,
    logs_bloom,
    toUInt32(toUnixTimestamp(timestamp)) AS timestamp,
    reinterpretAsFixedString(byteSwap(total_difficulty)) AS total_difficulty_binary,
    toUInt32(size) AS size,
    toUInt64(base_fee_per_gas) AS base_fee_per_gas,
    toUInt64(1) AS chain_id
FROM bench.blocks
WHERE block_number BETWEEN {first} AND {last}
ORDER BY block_number
FORMAT Parquet
SETTINGS
    output_format_parquet_compression_method = 'lz4',
    output_format_parquet_string_as_string = 0,
    output_format_parquet_fixed_string_as_fixed_byte_array = 0,
    output_format_parquet_row_group_size = 10000000,
    output_format_parquet_row_group_size_bytes = 4000000000
