-- search_terms_from_tokens: writes search_terms from what is inserted into tokens, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS search_terms_from_tokens TO search_terms AS
SELECT
    term,
    address
FROM
(
    SELECT
        address,
        arrayMap(text -> arrayFilter(word -> word != '', splitByRegexp('[\\p{Z}\\p{Cc}]+', replaceRegexpAll(lowerUTF8(text), '[\\x{AD}\\x{34F}\\x{61C}\\x{115F}-\\x{1160}\\x{17B4}-\\x{17B5}\\x{180B}-\\x{180F}\\x{200B}-\\x{200F}\\x{202A}-\\x{202E}\\x{2060}-\\x{206F}\\x{3164}\\x{FE00}-\\x{FE0F}\\x{FEFF}\\x{FFA0}\\x{FFF0}-\\x{FFF8}\\x{1BCA0}-\\x{1BCA3}\\x{1D173}-\\x{1D17A}\\x{E0000}-\\x{E0FFF}]', ''))), [ifNull(name, ''), ifNull(symbol, '')]) AS names
    FROM tokens
)
ARRAY JOIN
    arrayFlatten(arrayMap(words -> arrayMap(first -> substringUTF8(arrayStringConcat(arraySlice(words, first), ' '), 1, 100), range(1, 1 + least(length(words), 8))), names)) AS term;
