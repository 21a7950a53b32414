-- Which functions used the most gas, by name where a signature is known.
SELECT selector_hex, any(name) AS name, count() AS calls, sum(gas_used) AS gas, round(100 * gas / (SELECT sum(gas_used) FROM v_transactions), 1) AS percent
FROM v_transactions LEFT JOIN (SELECT selector, any(signature) AS name FROM function_signatures GROUP BY selector) AS f ON f.selector = v_transactions.selector
WHERE selector_hex IS NOT NULL GROUP BY selector_hex ORDER BY gas DESC, selector_hex LIMIT 15
