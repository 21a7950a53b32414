WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(from_address) AS giver, h(to_address) AS receiver, count() AS calls, sum(value) / 1e18 AS eth
FROM internal_transactions
WHERE frame_index > 0 AND value > 0 AND error = '' AND frame_type != 'reward'
GROUP BY from_address, to_address ORDER BY eth DESC, giver, receiver LIMIT 10
