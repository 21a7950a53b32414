-- The functions with some selectors, the newest first; not more than eight of one selector.
SELECT selector, signature
FROM function_signatures
WHERE selector IN {selectors:Array(FixedString(4))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
GROUP BY selector, signature
ORDER BY selector, max(generation) DESC, signature
LIMIT 8 BY selector
