-- The functions of the dictionary with some selectors.
SELECT DISTINCT selector, signature
FROM function_signatures
WHERE selector IN {selectors:Array(FixedString(4))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
