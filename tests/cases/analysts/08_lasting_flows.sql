WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(i.from_address) AS giver, h(i.to_address) AS receiver, sum(i.value) / 1e18 AS eth
FROM internal_transactions AS i
LEFT ANTI JOIN (SELECT block_number, transaction_index, trace_address AS failed FROM internal_transactions WHERE error != '') AS f
  ON f.block_number = i.block_number AND f.transaction_index = i.transaction_index AND arraySlice(i.trace_address, 1, length(f.failed)) = f.failed
WHERE i.frame_index > 0 AND i.value > 0 AND i.error = '' AND i.frame_type != 'reward'
GROUP BY i.from_address, i.to_address ORDER BY eth DESC, giver, receiver LIMIT 10
