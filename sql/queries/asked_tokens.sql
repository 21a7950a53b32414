-- Contracts that were asked what they are.
SELECT DISTINCT address
FROM tokens
