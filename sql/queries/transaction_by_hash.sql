-- A transaction by its hash, among settled blocks. The sub-query finds its position by the first eight bytes; the outer
-- query reads that position along the primary key and compares the whole hash.
SELECT *
FROM transactions
WHERE (block_number, transaction_index) GLOBAL IN (
    SELECT block_number, transaction_index
    FROM transactions_by_hash
    WHERE hash_prefix = {hash_prefix:UInt64}
)
  AND hash = toFixedString(unhex({hash:String}), 32)
