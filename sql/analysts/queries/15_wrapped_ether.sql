-- Ether wrapped and unwrapped, by block.
SELECT block_number, sum(if(topic0 = hash32('0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'), uint256(data, 0), 0)) / 1e18 AS wrapped, sum(if(topic0 = hash32('0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'), uint256(data, 0), 0)) / 1e18 AS unwrapped
FROM v_logs_by_contract WHERE address = address('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2') AND topics_count = 2 AND length(data) = 32
GROUP BY block_number ORDER BY block_number DESC LIMIT 10
