-- v_blocks: blocks, each once, settled or newest.
-- Reads: blocks by height or time.
CREATE OR REPLACE VIEW v_blocks
(
    block_number UInt64 COMMENT 'height; genesis is 0',
    hash FixedString(32) COMMENT 'block hash, bytes',
    hash_hex String COMMENT 'block hash, 0x text',
    parent_hash FixedString(32) COMMENT 'hash of the parent block, bytes',
    timestamp DateTime64(6, 'UTC') COMMENT 'time of the header, UTC',
    block_date Date COMMENT 'day of the header, UTC; a filter on it reads only its blocks',
    miner FixedString(20) COMMENT 'block producer, who received the priority fees, bytes',
    miner_hex String COMMENT 'block producer, who received the priority fees, 0x text',
    state_root FixedString(32) COMMENT 'root of the state trie after the block',
    transactions_root FixedString(32) COMMENT 'root of the transactions trie',
    receipts_root FixedString(32) COMMENT 'root of the receipts trie',
    gas_limit UInt64 COMMENT 'gas limit of the block',
    gas_used UInt64 COMMENT 'gas used by the block',
    base_fee_per_gas Nullable(UInt256) COMMENT 'wei, EIP-1559; NULL before London',
    burnt_fees Nullable(UInt256) COMMENT 'wei of fees that were burnt: base fee times gas used on Ethereum, 0 before London; NULL if unknown',
    transaction_fees Nullable(UInt256) COMMENT 'wei that transactions paid, the L1 and operator fees of rollups included; NULL without receipts',
    priority_fees Nullable(UInt256) COMMENT 'wei of transaction_fees above the base fee; NULL without receipts',
    blob_gas_used Nullable(UInt64) COMMENT 'EIP-4844; NULL before Cancun',
    excess_blob_gas Nullable(UInt64) COMMENT 'EIP-4844; NULL before Cancun',
    size Nullable(UInt64) COMMENT 'bytes of the RLP-encoded block, as the source gave it',
    extra_data String COMMENT 'extra data of the header, bytes',
    difficulty UInt256 COMMENT 'proof-of-work difficulty; 0 after the merge',
    total_difficulty Nullable(UInt256) COMMENT 'sum of difficulties; NULL if the source did not give it',
    transactions_count UInt32 COMMENT 'transactions in the block',
    blob_transactions_count UInt32 COMMENT 'transactions of type 3 among them',
    withdrawals_count UInt32 COMMENT 'withdrawals in the block',
    logs_count Nullable(UInt32) COMMENT 'logs in the block; NULL without receipts',
    uncles Array(FixedString(32)) COMMENT 'hashes of the uncle headers',
    lacking Array(LowCardinality(String)) COMMENT 'columns that the source did not have; ignore their values here'
)
AS
WITH
    (SELECT segments FROM v_newest) AS newest,
    (SELECT (first_block, last_block, ranges) FROM v_committed) AS committed
SELECT
    block_number,
    hash,
    concat('0x', lower(hex(hash))) AS hash_hex,
    parent_hash,
    timestamp,
    toDate(timestamp) AS block_date,
    miner,
    concat('0x', lower(hex(miner))) AS miner_hex,
    state_root,
    transactions_root,
    receipts_root,
    gas_limit,
    gas_used,
    base_fee_per_gas,
    burnt_fees,
    transaction_fees,
    priority_fees,
    blob_gas_used,
    excess_blob_gas,
    size,
    extra_data,
    difficulty,
    total_difficulty,
    transactions_count,
    blob_transactions_count,
    withdrawals_count,
    logs_count,
    uncles,
    lacking
FROM
(
    SELECT
        block_number,
        hash,
        parent_hash,
        timestamp,
        producer AS miner,
        state_root,
        transactions_root,
        receipts_root,
        gas_limit,
        gas_used,
        base_fee_per_gas,
        blob_gas_used,
        excess_blob_gas,
        size,
        extra_data,
        difficulty,
        total_difficulty,
        transactions_count,
        blob_transactions_count,
        withdrawals_count,
        logs_count,
        transaction_fees,
        priority_fees,
        burnt_fees,
        uncles,
        lacking
    FROM hot_blocks
    WHERE arrayExists(segment -> generation = segment.3 AND block_number BETWEEN segment.1 AND segment.2, newest)
      AND NOT arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3)
    UNION ALL
    SELECT
        block_number,
        hash,
        parent_hash,
        timestamp,
        producer AS miner,
        state_root,
        transactions_root,
        receipts_root,
        gas_limit,
        gas_used,
        base_fee_per_gas,
        blob_gas_used,
        excess_blob_gas,
        size,
        extra_data,
        difficulty,
        total_difficulty,
        transactions_count,
        blob_transactions_count,
        withdrawals_count,
        logs_count,
        transaction_fees,
        priority_fees,
        burnt_fees,
        uncles,
        lacking
    FROM blocks
    WHERE block_number BETWEEN committed.1 AND committed.2
      AND (length(committed.3) = 1 OR arrayExists(range -> block_number BETWEEN range.1 AND range.2, committed.3))
)
COMMENT 'blocks: one row each; from settled blocks and the newest blocks of the canonical chain'
