-- Deterministic logs with the skew of a busy chain, for measurements: rows {first:UInt64} to {first} + {count:UInt64}.
-- 175 logs a block, three a transaction; three contracts own 16, 12 and 10 per cent, the rest is Zipf-like over 200,000;
-- every second log is a Transfer; topics 1 and 2 are padded addresses, half of them log-uniform over five million.
INSERT INTO logs_by_block
WITH
    number AS i,
    intDiv(i, 175) AS block,
    i % 175 AS position,
    sipHash64('emitter', i) / 18446744073709551616. AS u,
    multiIf(u < 0.16, 0, u < 0.28, 1, u < 0.38, 2, toUInt64(3 + exp((u - 0.38) / 0.62 * log(200000)))) AS emitter,
    sipHash64('event', i) % 100 AS event,
    sipHash64('from', i) AS from_seed,
    sipHash64('to', i) AS to_seed,
    if(from_seed % 2 = 0, toUInt64(exp((from_seed % 1000003) / 1000003. * log(5000000))), from_seed % 5000000) AS from_user,
    if(to_seed % 2 = 0, toUInt64(exp((to_seed % 1000003) / 1000003. * log(5000000))), to_seed % 5000000) AS to_user
SELECT
    toFixedString(SHA1(concat('contract', toString(emitter))), 20) AS address,
    block AS block_number,
    toUInt32(position) AS log_index,
    toUInt32(intDiv(position, 3)) AS transaction_index,
    toFixedString(SHA256(concat('transaction', toString(block), '/', toString(intDiv(position, 3)))), 32) AS transaction_hash,
    toFixedString(SHA256(concat('block', toString(block))), 32) AS block_hash,
    fromUnixTimestamp64Micro(toInt64(1500000000 + block * 12) * 1000000) AS block_timestamp,
    toUInt8(if(event < 49, 3, 1 + event % 4)) AS topics_count,
    if(event < 49,
       toFixedString(unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'), 32),
       toFixedString(SHA256(concat('event', toString(toUInt64(exp((sipHash64('kind', i) % 1000003) / 1000003. * log(20000)))))), 32)) AS topic0,
    if(topics_count > 1, toFixedString(concat(unhex('000000000000000000000000'), SHA1(concat('user', toString(from_user)))), 32), toFixedString('', 32)) AS topic1,
    if(topics_count > 2, toFixedString(concat(unhex('000000000000000000000000'), SHA1(concat('user', toString(to_user)))), 32), toFixedString('', 32)) AS topic2,
    if(topics_count > 3, toFixedString(reinterpretAsString(toUInt256(i)), 32), toFixedString('', 32)) AS topic3,
    if(event < 80,
       concat(unhex('000000000000000000000000000000000000000000000000'), reinterpretAsString(sipHash64('amount', i))),
       repeat(concat(unhex('000000000000000000000000000000000000000000000000'), reinterpretAsString(sipHash64('data', i))), 2)) AS data
FROM numbers({first:UInt64}, {count:UInt64})
