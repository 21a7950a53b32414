WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT block_number, h(address) AS pool,
  reinterpretAsInt256(reverse(substring(data, 1, 32))) AS amount0, reinterpretAsInt256(reverse(substring(data, 33, 32))) AS amount1,
  reinterpretAsInt256(reverse(substring(data, 129, 32))) AS tick
FROM logs_by_block WHERE topic0 = unhex('c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67')
ORDER BY block_number DESC, log_index LIMIT 10
