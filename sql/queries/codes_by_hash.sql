-- Bytecodes by their hashes, each once.
SELECT code_hash, code
FROM codes
WHERE code_hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 32))
LIMIT 1 BY code_hash
