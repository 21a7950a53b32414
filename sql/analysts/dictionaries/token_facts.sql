-- token_facts: name, symbol and decimals of tokens by address, for views. At most 262,144 are kept, for five minutes.
CREATE OR REPLACE DICTIONARY token_facts
(
    address String,
    name Nullable(String),
    symbol Nullable(String),
    decimals Nullable(UInt8)
)
PRIMARY KEY address
SOURCE(CLICKHOUSE(TABLE 'v_token_facts'))
LAYOUT(COMPLEX_KEY_CACHE(SIZE_IN_CELLS 262144))
LIFETIME(300)
COMMENT 'name, symbol and decimals of tokens, by the bytes of their address as String'
