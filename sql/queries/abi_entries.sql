-- Entries with some selectors in the ABIs of contracts and of the implementations they had in settled blocks.
-- Of a contract, entries of the generation of its newest label of type abi count.
SELECT address, selector, generation, entry_type, signature, entry
FROM contract_abis
WHERE address GLOBAL IN (
    SELECT arrayJoin({addresses:Array(FixedString(20))})
    UNION ALL
    SELECT implementation
    FROM proxy_implementations
    WHERE address IN {addresses:Array(FixedString(20))}
)
  AND selector IN {selectors:Array(FixedString(4))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
  AND entry_type IN ('event', 'function', 'error')
ORDER BY address, selector, generation DESC, position
LIMIT 8 BY address, selector
