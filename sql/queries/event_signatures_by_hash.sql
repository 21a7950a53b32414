-- The events with some hashes, the newest first; not more than eight of one hash.
SELECT hash, signature
FROM event_signatures
WHERE hash IN {hashes:Array(FixedString(32))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
GROUP BY hash, signature
ORDER BY hash, max(generation) DESC, signature
LIMIT 8 BY hash
