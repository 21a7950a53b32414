-- Labels of addresses and of the implementations they had in settled blocks: the newest of each type.
SELECT address, label_type, slug, value, tag_type, ordinal, meta, generation
FROM
(
    SELECT address, label_type, slug, value, tag_type, ordinal, meta, generation
    FROM address_labels
    WHERE address GLOBAL IN (
        SELECT arrayJoin({addresses:Array(FixedString(20))})
        UNION ALL
        SELECT implementation
        FROM proxy_implementations
        WHERE address IN {addresses:Array(FixedString(20))}
    )
      AND generation GLOBAL IN (SELECT generation FROM label_loads)
    ORDER BY address, label_type, slug, generation DESC
    LIMIT 1 BY address, label_type, slug
)
WHERE value != ''
ORDER BY address, label_type, ordinal DESC, slug
LIMIT 50 BY address, label_type
