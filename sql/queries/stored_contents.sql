-- Which of some texts of source files are stored.
SELECT DISTINCT content_hash
FROM source_contents
WHERE content_hash IN {hashes:Array(FixedString(32))}
