-- The bundled events with some hashes.
SELECT DISTINCT hash, signature
FROM event_signatures
WHERE hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
  AND generation = 0
