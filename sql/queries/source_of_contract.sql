-- The source of a contract that one load brought, without its texts.
SELECT
    address, generation, name, file_path, language, compiler_version, settings, verifier, match_type,
    constructor_arguments, verified_at, paths, content_hashes, loaded_at
FROM contract_sources
WHERE address = toFixedString(unhex({address:String}), 20)
  AND generation = {generation:UInt64}
LIMIT 1
