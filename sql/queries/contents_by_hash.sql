-- Texts of source files; one may be stored twice, by two loads at the same time.
SELECT content_hash, content, loaded_at
FROM source_contents
WHERE content_hash IN {hashes:Array(FixedString(32))}
LIMIT 1 BY content_hash
