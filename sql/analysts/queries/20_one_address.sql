-- The newest of everything that one address did: of each kind the newest ten are enough.
WITH address('0xae2fc483527b8ef99eb5d9b44875f005ba1fae13') AS me
SELECT * FROM (
SELECT block_number, transaction_index, 'transaction' AS kind, from_address_hex AS giver, to_address_hex AS receiver, toString(value) AS amount FROM v_transactions WHERE (block_number, transaction_index) IN (SELECT block_number, transaction_index FROM v_transactions_by_address WHERE address = me ORDER BY block_number DESC, transaction_index DESC LIMIT 10)
UNION ALL SELECT block_number, transaction_index, 'internal', from_address_hex, to_address_hex, toString(value) FROM v_internal_transactions_by_address WHERE address = me
UNION ALL SELECT block_number, transaction_index, token_type, from_address_hex, to_address_hex, toString(value) FROM v_token_transfers_by_address WHERE address = me)
ORDER BY block_number DESC, transaction_index DESC, kind, giver, receiver, amount LIMIT 10
