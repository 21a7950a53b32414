WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(from_address) AS rollup, count() AS txs, sum(length(blob_versioned_hashes)) AS blobs, sum(blob_gas_used * blob_gas_price) / 1e18 AS eth
FROM transactions WHERE transaction_type = 3 GROUP BY from_address ORDER BY blobs DESC, h(from_address)
