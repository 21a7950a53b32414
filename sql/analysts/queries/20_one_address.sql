-- Everything that one address did.
WITH address('0xae2fc483527b8ef99eb5d9b44875f005ba1fae13') AS me
SELECT * FROM (
SELECT block_number, transaction_index, 'transaction' AS kind, from_hex AS giver, to_hex AS receiver, toString(value) AS amount FROM v_transactions WHERE (from_address = me OR to_address = me)
UNION ALL SELECT block_number, transaction_index, 'internal', from_hex, to_hex, toString(value) FROM v_internal_transactions WHERE NOT (frame_index = 0 AND frame_type = 'call' OR frame_type = 'reward') AND (from_address = me OR to_address = me)
UNION ALL SELECT block_number, transaction_index, token_type, from_hex, to_hex, toString(value) FROM v_token_transfers WHERE (from_address = me OR to_address = me))
ORDER BY block_number DESC, transaction_index DESC, kind, giver, receiver, amount LIMIT 10
