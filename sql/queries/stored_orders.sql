-- Number of rows and a checksum over them, for tables that hold the same rows, two by two.
-- Rows are hashed as text: a hash of columns would be NULL where one of them is.
SELECT 'logs_by_block' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM logs_by_block WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'logs' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM logs WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'withdrawals_by_block' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM withdrawals_by_block WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'withdrawals' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM withdrawals WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'token_transfers' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM token_transfers WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'token_transfers_by_token' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM token_transfers_by_token WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'transactions' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', reinterpretAsUInt64(reverse(substring(hash, 1, 8))), block_number, transaction_index))) AS checksum FROM transactions WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'transactions_by_hash' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM transactions_by_hash WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'blocks' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', reinterpretAsUInt64(reverse(substring(hash, 1, 8))), block_number))) AS checksum FROM blocks WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
UNION ALL
SELECT 'blocks_by_hash' AS name, count() AS rows, sum(cityHash64(formatRowNoNewline('TSV', *))) AS checksum FROM blocks_by_hash WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
