-- Who received the most withdrawals.
SELECT hex0x(address) AS receiver, count() AS withdrawals, uniqExact(validator_index) AS validators, sum(amount) AS wei
FROM v_withdrawals GROUP BY address ORDER BY wei DESC, receiver LIMIT 5
