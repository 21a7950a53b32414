-- Entries with some selectors in the ABIs of contracts and of those their calls were ever forwarded to by settled blocks.
-- Of a contract those of the generation count that its newest label of type abi names.
SELECT address, selector, generation, entry_type, signature, entry
FROM contract_abis
WHERE address IN (
    SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)
    UNION ALL
    SELECT implementation
    FROM proxy_implementations
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
)
  AND selector IN (SELECT toFixedString(unhex(arrayJoin({selectors:Array(String)})), 4))
  AND generation IN (SELECT generation FROM label_loads)
  AND entry_type IN ('event', 'function')
ORDER BY address, selector, generation DESC, position
LIMIT 8 BY address, selector
