-- Bytecodes by their hashes, each once.
SELECT code_hash, code
FROM codes
WHERE code_hash IN {hashes:Array(FixedString(32))}
LIMIT 1 BY code_hash
