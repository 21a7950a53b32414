-- search_terms_from_labels: writes search_terms from what is inserted into address_labels, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS search_terms_from_labels TO search_terms AS
SELECT
    term,
    address
FROM
(
    SELECT
        address,
        arrayFilter(word -> word != '', splitByRegexp('[\\p{Z}\\p{Cc}]+', replaceRegexpAll(lowerUTF8(value), '[\\x{AD}\\x{34F}\\x{61C}\\x{115F}-\\x{1160}\\x{17B4}-\\x{17B5}\\x{180B}-\\x{180F}\\x{200B}-\\x{200F}\\x{202A}-\\x{202E}\\x{2060}-\\x{206F}\\x{3164}\\x{FE00}-\\x{FE0F}\\x{FEFF}\\x{FFA0}\\x{FFF0}-\\x{FFF8}\\x{1BCA0}-\\x{1BCA3}\\x{1D173}-\\x{1D17A}\\x{E0000}-\\x{E0FFF}]', ''))) AS words
    FROM address_labels
    WHERE label_type != 'abi'
)
ARRAY JOIN
    arrayMap(first -> substringUTF8(arrayStringConcat(arraySlice(words, first), ' '), 1, 100), range(1, 1 + least(length(words), 8))) AS term;
