WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT a.block_number AS block, h(a.address) AS pool, h(substring(a.topic2, 13)) AS bot, a.transaction_index AS front, v.transaction_index AS victim, b.transaction_index AS back
FROM (SELECT * FROM logs_by_block WHERE topic0 = unhex('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822')) AS a
JOIN (SELECT * FROM logs_by_block WHERE topic0 = unhex('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822')) AS b
  ON a.block_number = b.block_number AND a.address = b.address AND a.topic2 = b.topic2
JOIN (SELECT * FROM logs_by_block WHERE topic0 = unhex('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822')) AS v
  ON a.block_number = v.block_number AND a.address = v.address
WHERE a.transaction_index < v.transaction_index AND v.transaction_index < b.transaction_index AND v.topic2 != a.topic2
  AND substring(a.data, 1, 32) = substring(v.data, 1, 32) AND substring(a.data, 33, 32) != substring(b.data, 33, 32)
ORDER BY block, front, victim, back, pool LIMIT 10
