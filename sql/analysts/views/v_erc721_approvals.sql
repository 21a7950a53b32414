-- v_erc721_approvals: logs of an event of ERC-721, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_erc721_approvals --event 'Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)'
CREATE OR REPLACE VIEW v_erc721_approvals
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
    `approved` FixedString(20) COMMENT 'address indexed',
    `tokenId` UInt256 COMMENT 'uint256 indexed'
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
    CAST(substring(topic2, 13, 20) AS FixedString(20)) AS `approved`,
    reinterpretAsUInt256(reverse(topic3)) AS `tokenId`
FROM v_logs
WHERE topic0 = unhex('8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925')
  AND topics_count = 4
  AND length(data) >= 0
COMMENT 'logs of the event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)'
