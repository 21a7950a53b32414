-- uint256(data, n): word n of data (32 bytes each, counted from 0) as an unsigned big-endian number; NULL if data is shorter.
CREATE FUNCTION IF NOT EXISTS uint256 AS (data, n) -> if(length(data) >= 32 * n + 32, reinterpretAsUInt256(reverse(substring(data, 32 * n + 1, 32))), NULL)
