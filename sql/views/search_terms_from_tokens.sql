-- search_terms_from_tokens: writes search_terms from what is inserted into tokens, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS search_terms_from_tokens TO search_terms AS
SELECT
    term,
    address
FROM
(
    SELECT
        address,
        arrayMap(text -> arrayFilter(word -> word != '', splitByChar(' ', lowerUTF8(text))), [ifNull(name, ''), ifNull(symbol, '')]) AS names
    FROM tokens
)
ARRAY JOIN
    arrayFlatten(arrayMap(words -> arrayMap(first -> substringUTF8(arrayStringConcat(arraySlice(words, first), ' '), 1, 100), range(1, 1 + least(length(words), 8))), names)) AS term;
