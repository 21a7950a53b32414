SELECT block_number,
  sumIf(reinterpretAsUInt256(reverse(data)), topic0 = unhex('e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c')) / 1e18 AS wrapped,
  sumIf(reinterpretAsUInt256(reverse(data)), topic0 = unhex('7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65')) / 1e18 AS unwrapped
FROM logs WHERE address = unhex('c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2') AND topics_count = 2 AND length(data) = 32
GROUP BY block_number ORDER BY block_number DESC LIMIT 10
