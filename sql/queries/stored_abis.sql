-- How many entries of its ABI a contract has from each load; entries can be lost with a part of the table.
SELECT address, generation, count() AS entries
FROM contract_abis
WHERE address IN {addresses:Array(FixedString(20))}
GROUP BY address, generation
