-- The newest sources of contracts, without their texts.
SELECT
    address, generation, name, file_path, language, compiler_version, settings, verifier, match_type,
    constructor_arguments, verified_at, paths, content_hashes
FROM contract_sources
WHERE address IN {addresses:Array(FixedString(20))}
  AND generation GLOBAL IN (SELECT generation FROM label_loads)
ORDER BY address, generation DESC
LIMIT 4 BY address
