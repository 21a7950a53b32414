-- The events of the dictionary with some hashes.
SELECT DISTINCT hash, signature
FROM event_signatures
WHERE hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
