-- Transactions of blocks {first} to {last} as cryo's dataset `transactions` with all columns.
SELECT
    toUInt32(block_number) AS block_number,
    toUInt64(transaction_index) AS transaction_index,
    hash AS transaction_hash,
    nonce,
    from_address,
    to_address,
    reinterpretAsFixedString(byteSwap(value)) AS value_binary,
    toString(value) AS value_string,
    toFloat64(value) AS value_f64,
    input,
    gas_limit,
    gas_used,
    toUInt64(effective_gas_price) AS gas_price,
    toUInt32(transaction_type) AS transaction_type,
    toUInt64(max_priority_fee_per_gas) AS max_priority_fee_per_gas,
    toUInt64(max_fee_per_gas) AS max_fee_per_gas,
    CAST(status = 1, 'Bool') AS success,
    toUInt32(length(input)) AS n_input_bytes,
    toUInt32(countSubstrings(input, '\0')) AS n_input_zero_bytes,
    toUInt32(length(input) - countSubstrings(input, '\0')) AS n_input_nonzero_bytes,
    toUInt32(length(input) + 110) AS n_rlp_bytes,
    block_hash,
    toUInt32(toUnixTimestamp(block_timestamp)) AS timestamp,
    toUInt64(1) AS chain_id
FROM bench.transactions
WHERE block_number BETWEEN {first} AND {last}
ORDER BY block_number, transaction_index
FORMAT Parquet
SETTINGS
    output_format_parquet_compression_method = 'lz4',
    output_format_parquet_string_as_string = 0,
    output_format_parquet_fixed_string_as_fixed_byte_array = 0,
    output_format_parquet_row_group_size = 10000000,
    output_format_parquet_row_group_size_bytes = 4000000000
