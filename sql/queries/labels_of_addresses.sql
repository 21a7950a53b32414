-- What is said of addresses and of those their calls were ever forwarded to by settled blocks: the newest word of each kind.
SELECT address, label_type, slug, value, tag_type, ordinal, meta, generation
FROM
(
    SELECT address, label_type, slug, value, tag_type, ordinal, meta, generation
    FROM address_labels
    WHERE address IN (
        SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)
        UNION ALL
        SELECT implementation
        FROM proxy_implementations
        WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))
    )
      AND generation IN (SELECT generation FROM label_loads)
    ORDER BY address, label_type, slug, generation DESC
    LIMIT 1 BY address, label_type, slug
)
WHERE value != ''
ORDER BY address, label_type, ordinal DESC, slug
LIMIT 50 BY address, label_type
