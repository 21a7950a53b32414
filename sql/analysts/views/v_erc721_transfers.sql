-- v_erc721_transfers: logs of an event of ERC-721, one column for each parameter. Made by
-- trawl-ingest views add --print --name v_erc721_transfers --event 'Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'
CREATE OR REPLACE VIEW v_erc721_transfers
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
    `from` FixedString(20) COMMENT 'address indexed',
    `to` FixedString(20) COMMENT 'address indexed',
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
    CAST(substring(topic1, 13, 20) AS FixedString(20)) AS `from`,
    CAST(substring(topic2, 13, 20) AS FixedString(20)) AS `to`,
    reinterpretAsUInt256(reverse(topic3)) AS `tokenId`
FROM v_logs
WHERE topic0 = unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
  AND topics_count = 4
  AND length(data) >= 0
COMMENT 'logs of the event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)'
