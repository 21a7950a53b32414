-- The creations in a range of blocks whose code is known: traces showed them, or the genesis. Reads one column of the whole table.
SELECT address, block_number, transaction_index
FROM contracts
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64} AND code_hash IS NOT NULL
