-- v_approvals_for_all: logs of an event of ERC-721 and ERC-1155, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_approvals_for_all --event 'ApprovalForAll(address indexed owner, address indexed operator, bool approved)'
CREATE OR REPLACE VIEW v_approvals_for_all
(
    block_number UInt64 COMMENT 'height of its block',
    log_index UInt32 COMMENT 'position in the block, 0-based',
    transaction_index UInt32 COMMENT 'position of its transaction in the block, 0-based',
    transaction_hash FixedString(32) COMMENT 'hash of its transaction, bytes',
    transaction_hash_hex String COMMENT 'hash of its transaction, 0x text',
    block_timestamp DateTime64(6, 'UTC') COMMENT 'time of its block, UTC',
    block_date Date COMMENT 'day of its block, UTC; a filter on it reads only its blocks',
    contract FixedString(20) COMMENT 'contract that emitted it, bytes',
    contract_hex String COMMENT 'contract that emitted it, 0x text',
    `owner` FixedString(20) COMMENT 'address indexed',
    `operator` FixedString(20) COMMENT 'address indexed',
    `approved` Bool COMMENT 'bool'
)
AS
SELECT
    block_number,
    log_index,
    transaction_index,
    transaction_hash,
    transaction_hash_hex,
    block_timestamp,
    block_date,
    address AS contract,
    address_hex AS contract_hex,
    CAST(substring(topic1, 13, 20) AS FixedString(20)) AS `owner`,
    CAST(substring(topic2, 13, 20) AS FixedString(20)) AS `operator`,
    CAST(reinterpretAsUInt256(reverse(substring(data, 1, 32))) != 0 AS Bool) AS `approved`
FROM v_logs
WHERE topic0 = unhex('17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31')
  AND topics_count = 3
  AND length(data) >= 32
COMMENT 'logs of the event ApprovalForAll(address indexed owner, address indexed operator, bool approved)'
