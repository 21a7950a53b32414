-- v_tokens: tokens that were asked for their name, each once, with what they answered last.
CREATE OR REPLACE VIEW v_tokens
(
    address FixedString(20) COMMENT 'the token contract, bytes',
    address_hex String COMMENT 'the token contract, 0x text',
    token_type LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from its transfers',
    name Nullable(String) COMMENT 'its name; NULL if it returned none',
    symbol Nullable(String) COMMENT 'its symbol; NULL if it returned none',
    decimals Nullable(UInt8) COMMENT 'its decimals; NULL if it returned none',
    total_supply Nullable(UInt256) COMMENT 'supply in the smallest unit at asked_at_block; NULL if it returned none',
    asked_at_block UInt64 COMMENT 'height of the first call that returned these values'
)
AS
SELECT
    address,
    concat('0x', lower(hex(address))) AS address_hex,
    answer.1 AS token_type,
    answer.2 AS name,
    answer.3 AS symbol,
    answer.4 AS decimals,
    answer.5 AS total_supply,
    asked_at_block
FROM
(
    SELECT
        address,
        argMax((token_type, name, symbol, decimals, total_supply), block_number) AS answer,
        max(block_number) AS asked_at_block
    FROM tokens
    GROUP BY address
)
COMMENT 'tokens: one row each, with what the contract returned last'
