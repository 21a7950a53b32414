-- address('0x…'): the 20 bytes of an address, to compare with columns of addresses.
CREATE FUNCTION IF NOT EXISTS address AS (text) -> CAST(unhex(substring(text, 3)) AS FixedString(20))
