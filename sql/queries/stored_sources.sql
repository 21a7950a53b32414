-- From which loads contracts have a source.
SELECT DISTINCT address, generation
FROM contract_sources
WHERE address IN {addresses:Array(FixedString(20))}
