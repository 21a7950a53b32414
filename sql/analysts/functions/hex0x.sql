-- hex0x(bytes): 0x text in lower case.
CREATE FUNCTION IF NOT EXISTS hex0x AS (bytes) -> concat('0x', lower(hex(bytes)))
