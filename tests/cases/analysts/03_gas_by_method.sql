WITH (x -> concat('0x', lower(hex(x)))) AS h
SELECT h(substring(input, 1, 4)) AS selector, any(f.name) AS name, count() AS calls, sum(gas_used) AS gas,
       round(100 * gas / (SELECT sum(gas_used) FROM transactions), 1) AS percent
FROM transactions LEFT JOIN (SELECT selector AS s, any(signature) AS name FROM function_signatures GROUP BY s) AS f ON f.s = substring(input, 1, 4)
WHERE length(input) >= 4 AND to_address IS NOT NULL GROUP BY selector ORDER BY gas DESC, selector LIMIT 15
