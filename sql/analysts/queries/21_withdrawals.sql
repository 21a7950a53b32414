-- Who received the most withdrawals.
SELECT address_hex AS receiver, count() AS withdrawals, uniqExact(validator_index) AS validators, sum(amount) AS wei
FROM v_withdrawals GROUP BY receiver ORDER BY wei DESC, receiver LIMIT 5
