-- Who was approved without limit most often.
SELECT hex0x(spender) AS spender_hex, count() AS approvals, uniqExact(contract) AS tokens
FROM v_erc20_approvals WHERE value >= bitShiftLeft(toUInt256(1), 255)
GROUP BY spender ORDER BY approvals DESC, spender_hex LIMIT 10
