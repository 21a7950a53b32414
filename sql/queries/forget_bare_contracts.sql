-- Removes the creations in a range of blocks that receipts showed: those that traces show are there.
DELETE FROM contracts
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64} AND code_hash IS NULL
