-- search_terms_from_labels: writes search_terms from what is inserted into address_labels, in the same statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS search_terms_from_labels TO search_terms AS
SELECT
    term,
    address
FROM
(
    SELECT
        address,
        arrayFilter(word -> word != '', splitByChar(' ', lowerUTF8(value))) AS words
    FROM address_labels
    WHERE label_type != 'abi'
)
ARRAY JOIN
    arrayMap(first -> substringUTF8(arrayStringConcat(arraySlice(words, first), ' '), 1, 100), range(1, 1 + least(length(words), 8))) AS term;
