-- The transactions of the generated token transfers in blocks {first_block:UInt64} to {last_block:UInt64}: 59 a block,
-- each a call with 68 bytes of data.
INSERT INTO transactions (block_number, transaction_index, hash, block_hash, block_timestamp, transaction_type, from_address,
                          to_address, nonce, gas_limit, input, has_receipt, status, gas_used, logs_count)
WITH
    intDiv(number, 59) + {first_block:UInt64} AS block,
    number % 59 AS position
SELECT
    block AS block_number,
    toUInt32(position) AS transaction_index,
    toFixedString(SHA256(concat('transaction', toString(block), '/', toString(position))), 32) AS hash,
    toFixedString(SHA256(concat('block', toString(block))), 32) AS block_hash,
    fromUnixTimestamp64Micro(toInt64(1500000000 + block * 12) * 1000000) AS block_timestamp,
    2 AS transaction_type,
    toFixedString(SHA1(concat('user', toString(sipHash64('sender', number) % 100000))), 20) AS from_address,
    toFixedString(SHA1(concat('token', toString(sipHash64('called', number) % 500))), 20) AS to_address,
    number AS nonce,
    90000 AS gas_limit,
    concat(unhex('a9059cbb000000000000000000000000'), SHA1(concat('user', toString(number % 100000))), repeat(reinterpretAsString(sipHash64('input', number)), 4)) AS input,
    1 AS has_receipt,
    1 AS status,
    60000 AS gas_used,
    3 AS logs_count
FROM numbers(59 * ({last_block:UInt64} - {first_block:UInt64} + 1))
