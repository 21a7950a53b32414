-- The events of the dictionary with some hashes.
SELECT DISTINCT hash, signature
FROM event_signatures
WHERE hash IN {hashes:Array(FixedString(32))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
