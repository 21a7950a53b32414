-- Labels of some addresses: the newest of each type, including removals.
SELECT address, label_type, slug, value, tag_type, ordinal, meta, generation
FROM address_labels
WHERE address IN {addresses:Array(FixedString(20))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
ORDER BY address, label_type, slug, generation DESC
LIMIT 1 BY address, label_type, slug
