-- v_token_facts: what the dictionary token_facts reads.
CREATE OR REPLACE VIEW v_token_facts
(
    address String COMMENT 'the token contract, bytes',
    name Nullable(String) COMMENT 'its name as it answered last; NULL if it gave none',
    symbol Nullable(String) COMMENT 'its symbol as it answered last; NULL if it gave none',
    decimals Nullable(UInt8) COMMENT 'its decimals as it answered last; NULL if it gave none'
)
AS
SELECT
    CAST(tokens.address AS String) AS address,
    argMax(tuple(tokens.name), block_number).1 AS name,
    argMax(tuple(tokens.symbol), block_number).1 AS symbol,
    argMax(tuple(tokens.decimals), block_number).1 AS decimals
FROM tokens
GROUP BY address
COMMENT 'name, symbol and decimals of tokens, by address as String'
