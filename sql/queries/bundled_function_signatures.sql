-- The bundled functions with some selectors.
SELECT DISTINCT selector, signature
FROM function_signatures
WHERE selector IN {selectors:Array(FixedString(4))}
  AND generation = 0
