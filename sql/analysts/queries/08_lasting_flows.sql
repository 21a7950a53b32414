-- The same, without what a failed call around it undid.
SELECT hex0x(from_address) AS giver, hex0x(to_address) AS receiver, sum(value) / 1e18 AS eth
FROM v_internal_transactions WHERE frame_index > 0 AND value > 0 AND NOT is_undone AND frame_type != 'reward'
GROUP BY from_address, to_address ORDER BY eth DESC, giver, receiver LIMIT 10
