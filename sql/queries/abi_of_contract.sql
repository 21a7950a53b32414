-- The entries of the ABI of a contract that one load brought, in their order.
SELECT address, selector, generation, entry_type, signature, entry
FROM contract_abis
WHERE address = toFixedString(unhex({address:String}), 20)
  AND generation = {generation:UInt64}
ORDER BY position
LIMIT {limit:UInt64}
