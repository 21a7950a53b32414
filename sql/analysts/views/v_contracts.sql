-- v_contracts: creations of contracts, settled or newest. A contract that was destroyed and made again has a row for each time.
-- Reads: contracts by address, as bytes or as text.
CREATE OR REPLACE VIEW v_contracts
(
    address FixedString(20) COMMENT 'the contract, bytes',
    address_hex String COMMENT 'the contract, 0x text',
    block_number UInt64 COMMENT 'height of its block',
    transaction_index UInt32 COMMENT 'position of the transaction in the block',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    creator FixedString(20) COMMENT 'creator: the sender, or the contract that executed the creation, bytes',
    creator_hex String COMMENT 'creator: the sender, or the contract that executed the creation, 0x text',
    creation_type LowCardinality(String) COMMENT 'create, create2, transaction or genesis',
    code_hash Nullable(FixedString(32)) COMMENT 'Keccak-256 of its code; NULL if the source had no traces',
    code_size Nullable(UInt32) COMMENT 'bytes of its code; NULL if the source had no traces'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    address,
    concat('0x', lower(hex(address))) AS address_hex,
    block_number,
    transaction_index,
    transaction_hash,
    concat('0x', lower(hex(transaction_hash))) AS transaction_hash_hex,
    block_timestamp,
    toDate(block_timestamp) AS block_date,
    creator,
    concat('0x', lower(hex(creator))) AS creator_hex,
    creation_type,
    code_hash,
    code_size
FROM
(
    SELECT
        address,
        block_number,
        transaction_index,
        transaction_hash,
        block_timestamp,
        creator,
        creation_type,
        code_hash,
        code_size
    FROM hot_contracts
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        address,
        block_number,
        transaction_index,
        transaction_hash,
        block_timestamp,
        creator,
        creation_type,
        code_hash,
        code_size
    FROM contracts
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'creations of contracts: one row each; from settled blocks and the newest blocks of the canonical chain'
