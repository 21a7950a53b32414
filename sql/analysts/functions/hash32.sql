-- hash32('0x…'): the 32 bytes of a hash or topic, to compare with columns of hashes.
CREATE FUNCTION IF NOT EXISTS hash32 AS (text) -> CAST(unhex(substring(text, 3)) AS FixedString(32))
