WITH (x -> concat('0x', lower(hex(x)))) AS h,
 unhex('ae2fc483527b8ef99eb5d9b44875f005ba1fae13') AS me
SELECT * FROM (
SELECT block_number, transaction_index, 'transaction' AS kind, h(from_address) AS giver, h(to_address) AS receiver, toString(value) AS amount FROM transactions WHERE from_address = me OR to_address = me
UNION ALL SELECT block_number, transaction_index, 'internal', h(from_address), h(to_address), toString(value) FROM internal_transactions_by_address WHERE address = me
UNION ALL SELECT block_number, transaction_index, token_type, h(from_address), h(to_address), toString(value) FROM token_transfers WHERE address = me)
ORDER BY block_number DESC, transaction_index DESC, kind, giver, receiver, amount LIMIT 10
