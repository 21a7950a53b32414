WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(substring(topic2, 13)) AS spender, count() AS approvals, uniqExact(address) AS tokens
FROM logs_by_block WHERE topic0 = unhex('8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925') AND length(data) = 32
  AND reinterpretAsUInt256(reverse(data)) >= bitShiftLeft(toUInt256(1), 255)
GROUP BY topic2 ORDER BY approvals DESC, spender LIMIT 10
