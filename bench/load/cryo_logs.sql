-- Logs of blocks {first} to {last} as cryo's dataset `logs` with all columns.
SELECT
    toUInt32(block_number) AS block_number,
    block_hash,
    transaction_index,
    log_index,
    transaction_hash,
    address,
    if(topics_count > 0, toFixedString(toString(topic0), 32), NULL) AS topic0,
    if(topics_count > 1, topic1, NULL) AS topic1,
    if(topics_count > 2, topic2, NULL) AS topic2,
    if(topics_count > 3, topic3, NULL) AS topic3,
    data,
    toUInt32(length(data)) AS n_data_bytes,
    toUInt64(1) AS chain_id
FROM bench.logs_by_block
WHERE block_number BETWEEN {first} AND {last}
ORDER BY block_number, log_index
FORMAT Parquet
SETTINGS
    output_format_parquet_compression_method = 'lz4',
    output_format_parquet_string_as_string = 0,
    output_format_parquet_fixed_string_as_fixed_byte_array = 0,
    output_format_parquet_row_group_size = 10000000,
    output_format_parquet_row_group_size_bytes = 4000000000
