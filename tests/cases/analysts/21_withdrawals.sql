WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(address) AS receiver, count() AS withdrawals, uniqExact(validator_index) AS validators, sum(amount) AS amount_as_stored
FROM withdrawals GROUP BY address ORDER BY amount_as_stored DESC, receiver LIMIT 5
