-- How many contracts have an ABI that counts: the newest record of one says that there is one.
SELECT countIf(abi != '') AS contracts
FROM
(
    SELECT argMax(value, generation) AS abi
    FROM address_labels
    WHERE label_type = 'abi'
      AND generation GLOBAL IN (SELECT generation FROM label_loads)
    GROUP BY address
)
