-- The bundled events with some hashes.
SELECT DISTINCT hash, signature
FROM event_signatures
WHERE hash IN {hashes:Array(FixedString(32))}
  AND generation = 0
