-- Removes what an interrupted run added to the contracts of a range of blocks without traces. A creation by transaction stays
-- if receipts do not show it any more.
DELETE FROM contracts
WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
  AND code_hash IS NOT NULL
  AND (creation_type IN ('create', 'create2')
    OR (creation_type = 'transaction' AND (address, block_number, transaction_index) IN
        (SELECT address, block_number, transaction_index FROM contracts WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64} AND code_hash IS NULL)))
