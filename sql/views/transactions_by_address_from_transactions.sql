-- transactions_by_address_from_transactions: writes transactions_by_address from what is inserted into transactions, in the same
-- statement.
CREATE MATERIALIZED VIEW IF NOT EXISTS transactions_by_address_from_transactions TO transactions_by_address AS
SELECT
    address,
    block_number,
    transaction_index,
    toUInt8(if(address = from_address, 1, 0) + if(address IN (to_address, contract_address), 2, 0)) AS sides,
    nonce,
    value,
    if(has_receipt = 1 AND NOT has(lacking, 'gas_used'), gas_used, NULL) AS gas_used,
    if(has_receipt = 1 AND NOT hasAny(lacking, ['gas_used', 'effective_gas_price']), gas_used * effective_gas_price + ifNull(l1_fee, 0) + ifNull(operator_fee, 0), NULL) AS fee
FROM transactions
ARRAY JOIN
    arrayDistinct([from_address, ifNull(to_address, from_address), ifNull(contract_address, from_address)]) AS address;
