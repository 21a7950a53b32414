-- What the generated tokens say of themselves.
INSERT INTO tokens (address, block_number, token_type, name, symbol, decimals, total_supply)
SELECT
    toFixedString(SHA1(concat(if(number % 2 = 0, 'token', 'unique'), toString(intDiv(number, 2)))), 20) AS address,
    0 AS block_number,
    if(number % 2 = 0, 'ERC-20', 'ERC-721') AS token_type,
    concat('Generated token ', toString(number)) AS name,
    concat('G', toString(number)) AS symbol,
    if(number % 2 = 0, 18, NULL) AS decimals,
    toUInt256(sipHash64('supply', number)) AS total_supply
FROM numbers(1000)
