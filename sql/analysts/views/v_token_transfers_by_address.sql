-- v_token_transfers_by_address: the rows of v_token_transfers by who takes part, a row for each participant.
-- Reads: transfers of one address.
CREATE OR REPLACE VIEW v_token_transfers_by_address
(
    address FixedString(20) COMMENT 'participant: sender or recipient, bytes; filter by it',
    address_hex String COMMENT 'participant, 0x text',
    block_number UInt64 COMMENT 'height of its block',
    log_index UInt32 COMMENT 'position of its log in the block',
    batch_index UInt32 COMMENT 'position in an ERC-1155 batch; 0 otherwise',
    transaction_index UInt32 COMMENT 'position of its transaction in the block',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_hash FixedString(32) COMMENT 'hash of its block, bytes',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    token_type LowCardinality(String) COMMENT 'ERC-20, ERC-721 or ERC-1155, derived from the shape of the log',
    token_address FixedString(20) COMMENT 'token contract, bytes',
    token_address_hex String COMMENT 'token contract, 0x text',
    token_hex String COMMENT 'the same as token_address_hex',
    from_address FixedString(20) COMMENT 'sender; zero for a mint, bytes',
    from_address_hex String COMMENT 'sender; zero for a mint, 0x text',
    from_hex String COMMENT 'the same as from_address_hex',
    to_address FixedString(20) COMMENT 'recipient; zero for a burn, bytes',
    to_address_hex String COMMENT 'recipient; zero for a burn, 0x text',
    to_hex String COMMENT 'the same as to_address_hex',
    token_id Nullable(UInt256) COMMENT 'token of an ERC-721 or ERC-1155 transfer; NULL for ERC-20',
    value UInt256 COMMENT 'amount in the smallest unit; 1 for ERC-721',
    symbol Nullable(String) COMMENT 'symbol that the contract returned; NULL if unknown',
    decimals Nullable(UInt8) COMMENT 'decimals that the contract returned; NULL if unknown',
    amount Nullable(Float64) COMMENT 'value in whole tokens, rounded to about 15 digits; NULL for an ERC-20 of unknown decimals'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    address,
    concat('0x', lower(hex(address))) AS address_hex,
    block_number,
    log_index,
    batch_index,
    transaction_index,
    transaction_hash,
    concat('0x', lower(hex(transaction_hash))) AS transaction_hash_hex,
    block_hash,
    block_timestamp,
    toDate(block_timestamp) AS block_date,
    token_type,
    token_address,
    concat('0x', lower(hex(token_address))) AS token_address_hex,
    token_address_hex AS token_hex,
    from_address,
    concat('0x', lower(hex(from_address))) AS from_address_hex,
    from_address_hex AS from_hex,
    to_address,
    concat('0x', lower(hex(to_address))) AS to_address_hex,
    to_address_hex AS to_hex,
    token_id,
    value,
    dictGetOrNull('token_facts', 'symbol', CAST(token_address AS String)) AS symbol,
    dictGetOrNull('token_facts', 'decimals', CAST(token_address AS String)) AS decimals,
    if(token_type = 'ERC-20', toFloat64(value) / exp10(dictGetOrNull('token_facts', 'decimals', CAST(token_address AS String))), toFloat64(value)) AS amount
FROM
(
    SELECT
        address,
        block_number,
        log_index,
        batch_index,
        transaction_index,
        transaction_hash,
        block_hash,
        block_timestamp,
        token_type,
        token_address,
        from_address,
        to_address,
        token_id,
        value
    FROM hot_token_transfers
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        address,
        block_number,
        log_index,
        batch_index,
        transaction_index,
        transaction_hash,
        block_hash,
        block_timestamp,
        token_type,
        token_address,
        from_address,
        to_address,
        token_id,
        value
    FROM token_transfers
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'token transfers of an address: one row for sender and one for recipient, one in total if an address sent to itself; filter by address before counting or summing'
