-- Deterministic token transfers as their participants see them: rows {first:UInt64} to {first} + {count:UInt64}.
-- 175 rows a block, three a transaction. Five of six rows (10 of 12 million) are of one address, which gives half of
-- the time; the others are of 100,000 addresses. 500 tokens, three in a hundred transfers of ERC-721.
INSERT INTO token_transfers
WITH
    number AS i,
    intDiv(i, 175) AS block,
    i % 175 AS position,
    toFixedString(SHA1('the busy address'), 20) AS busy,
    toFixedString(SHA1(concat('user', toString(sipHash64('other', i) % 100000))), 20) AS other,
    toFixedString(SHA1(concat('user', toString(sipHash64('partner', i) % 100000))), 20) AS partner,
    if(i % 6 = 0, other, busy) AS participant,
    sipHash64('side', i) % 2 = 0 AS gives,
    sipHash64('standard', i) % 100 < 3 AS is_unique,
    toUInt64(exp((sipHash64('token', i) % 1000003) / 1000003. * log(500))) AS token
SELECT
    participant AS address,
    block AS block_number,
    toUInt32(position) AS log_index,
    toUInt32(0) AS batch_index,
    toUInt32(intDiv(position, 3)) AS transaction_index,
    toFixedString(SHA256(concat('transaction', toString(block), '/', toString(intDiv(position, 3)))), 32) AS transaction_hash,
    toFixedString(SHA256(concat('block', toString(block))), 32) AS block_hash,
    fromUnixTimestamp64Micro(toInt64(1500000000 + block * 12) * 1000000) AS block_timestamp,
    if(is_unique, 'ERC-721', 'ERC-20') AS token_type,
    toFixedString(SHA1(concat(if(is_unique, 'unique', 'token'), toString(token))), 20) AS token_address,
    if(gives, participant, partner) AS from_address,
    if(gives, partner, participant) AS to_address,
    if(is_unique, toUInt256(i), NULL) AS token_id,
    if(is_unique, toUInt256(1), toUInt256(sipHash64('amount', i))) AS value
FROM numbers({first:UInt64}, {count:UInt64})
