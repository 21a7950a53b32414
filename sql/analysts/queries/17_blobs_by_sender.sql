-- Who posts blobs.
SELECT from_hex AS sender, count() AS txs, sum(length(blob_versioned_hashes)) AS blobs, sum(blob_fee) / 1e18 AS eth
FROM v_transactions WHERE transaction_type = 3 GROUP BY sender ORDER BY blobs DESC, sender
