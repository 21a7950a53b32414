-- Who posts blobs.
SELECT hex0x(from_address) AS sender, count() AS txs, sum(length(blob_versioned_hashes)) AS blobs, sum(blob_fee) / 1e18 AS eth
FROM v_transactions WHERE transaction_type = 3 GROUP BY from_address ORDER BY blobs DESC, sender
