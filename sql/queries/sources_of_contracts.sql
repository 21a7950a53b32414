-- The newest sources of contracts, without their texts.
SELECT
    address, generation, name, file_path, language, compiler_version, settings, verifier, match_type,
    constructor_arguments, verified_at, paths, content_hashes
FROM contract_sources
WHERE address IN {addresses:Array(FixedString(20))}
ORDER BY address, generation DESC
LIMIT 16 BY address
