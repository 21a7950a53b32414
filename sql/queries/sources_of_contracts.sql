-- What the newest source of each contract says of the compiler, without its files.
SELECT
    address, generation, name, file_path, language, compiler_version, settings, verifier, match_type,
    constructor_arguments, verified_at, emptyArrayString() AS paths,
    CAST([], 'Array(FixedString(32))') AS content_hashes, loaded_at
FROM contract_sources
WHERE address IN {addresses:Array(FixedString(20))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
ORDER BY address, generation DESC
LIMIT 1 BY address
