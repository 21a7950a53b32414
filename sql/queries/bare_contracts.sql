-- How many creations in a range of blocks have no code, since receipts alone showed them. Reads one column of the whole table.
SELECT count() AS count
FROM contracts
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64} AND code_hash IS NULL
