-- v_token_facts: what the dictionary token_facts reads.
CREATE OR REPLACE VIEW v_token_facts
(
    address String COMMENT 'the token contract, bytes',
    name Nullable(String) COMMENT 'latest name that it returned; NULL if it returned none',
    symbol Nullable(String) COMMENT 'latest symbol that it returned; NULL if it returned none',
    decimals Nullable(UInt8) COMMENT 'latest decimals that it returned; NULL if it returned none'
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
