// The SQL of the data that charts show.

/** A column of the newest hundred blocks. */
export const newestSql = (column: string) => `SELECT block_number, ${column}
FROM v_blocks
ORDER BY block_number DESC
LIMIT 100`;

const VALUES: Record<string, [string, string]> = {
  newBlocks: ['count() AS value', 'v_blocks'],
  averageBlockSize: ['avg(size) AS value', 'v_blocks'],
  averageGasLimit: ['avg(gas_limit) AS value', 'v_blocks'],
  networkUtilization: ['100 * avg(gas_used / gas_limit) AS value', 'v_blocks'],
  gasUsedGrowth: ['sum(sum(gas_used)) OVER (ORDER BY period) AS value', 'v_blocks'],
  newTxns: ['sum(transactions_count) AS value', 'v_blocks'],
  txnsGrowth: ['sum(sum(transactions_count)) OVER (ORDER BY period) AS value', 'v_blocks'],
  txnsFee: ['sum(transaction_fees) / 1e18 AS value', 'v_blocks'],
  lowestBaseFee: ['min(base_fee_per_gas) / 1e9 AS value', 'v_blocks'],
  averageBaseFee: ['avg(base_fee_per_gas) / 1e9 AS value', 'v_blocks'],
  highestBaseFee: ['max(base_fee_per_gas) / 1e9 AS value', 'v_blocks'],
  burntFees: ['sum(burnt_fees) / 1e18 AS value', 'v_blocks'],
  priorityFees: ['sum(priority_fees) / 1e18 AS value', 'v_blocks'],
  blobGasUsed: ['sum(blob_gas_used) AS value', 'v_blocks'],
  averageTxnFee: ['sum(transaction_fees) / sum(transactions_count) / 1e18 AS value', 'v_blocks'],
};

const STARTS: Record<string, string> = { DAY: 'toStartOfDay(timestamp)', WEEK: 'toStartOfWeek(timestamp, 1)', MONTH: 'toStartOfMonth(timestamp)', YEAR: 'toStartOfYear(timestamp)' };

/** The SQL of a chart of the statistics service; `undefined` for unknown charts. */
export function lineSql(id: string, period: string): string | undefined {
  const value = VALUES[id];
  if (!value) return undefined;
  return `SELECT ${STARTS[period] ?? STARTS['DAY']} AS period, ${value[0]}
FROM ${value[1]}
GROUP BY period
ORDER BY period`;
}

/** The start of the period of a column with a time. */
const start = (period: string, column: string) => (STARTS[period] ?? (STARTS['DAY'] as string)).replace('timestamp', column);

export const eventsSql = (contract: string, period: string) => `SELECT ${start(period, 'block_timestamp')} AS period, concat('0x', lower(hex(topic0))) AS event, count() AS logs
FROM v_logs_by_contract
WHERE address = unhex('${contract.slice(2)}')
GROUP BY period, event
ORDER BY period`;

export const methodsSql = (contract: string, period: string) => `SELECT ${start(period, 'block_timestamp')} AS period, concat('0x', lower(hex(substring(input, 1, 4)))) AS method, count() AS transactions, countIf(status = 0) AS failed
FROM v_transactions
WHERE to_address = unhex('${contract.slice(2)}')
GROUP BY period, method
ORDER BY period`;

/** A row for each side of a transfer: those of an address are a range of the key. */
export const counterpartiesSql = (address: string) => `SELECT concat('0x', lower(hex(if(to_address = address, from_address, to_address)))) AS counterparty, token_hex AS token, token_type,
  countIf(to_address = address) AS received_count, sumIf(value, to_address = address) AS received_amount,
  countIf(from_address = address) AS sent_count, sumIf(value, from_address = address) AS sent_amount
FROM v_token_transfers_by_address
WHERE address = unhex('${address.slice(2)}')
GROUP BY counterparty, token, token_type
ORDER BY received_count + sent_count DESC
LIMIT 100`;

/** The transactions and calls of an address by the positions that the views by address have. */
export const coinsSql = (address: string) => `WITH unhex('${address.slice(2)}') AS me
SELECT concat('0x', lower(hex(if(from_address = me, ifNull(to_address, created_contract), from_address)))) AS counterparty,
  countIf(ifNull(to_address, created_contract) = me) AS received_count, sumIf(value, ifNull(to_address, created_contract) = me) AS received_wei,
  countIf(from_address = me) AS sent_count, sumIf(value, from_address = me) AS sent_wei
FROM v_internal_transactions
WHERE (block_number, transaction_index, frame_index) IN (
  SELECT block_number, transaction_index, frame_index FROM v_internal_transactions_by_address WHERE address = me AND value > 0
  UNION ALL SELECT block_number, transaction_index, toUInt32(0) FROM v_transactions_by_address WHERE address = me AND value > 0)
  AND value > 0 AND is_undone = 0 AND (frame_type != 'call' OR call_type = 'call')
GROUP BY counterparty
ORDER BY received_count + sent_count DESC
LIMIT 100`;

export const failuresSql = (contract: string | null, from: string | null) => `SELECT transactions.to_hex AS contract, transactions.selector_hex AS method, frames.error AS error,
  concat('0x', lower(hex(substring(frames.output, 1, 4)))) AS revert_id, count() AS transactions_count, sum(transactions.gas_used) AS gas_used, sum(transactions.fee) AS fees
FROM v_transactions AS transactions
LEFT JOIN (SELECT block_number, transaction_index, error, output FROM v_internal_transactions WHERE frame_index = 0 AND error != ''${from === null ? '' : ` AND block_date >= '${from}'`}) AS frames USING (block_number, transaction_index)
WHERE transactions.status = 0${contract === null ? '' : ` AND transactions.to_address = unhex('${contract.slice(2)}')`}${from === null ? '' : ` AND transactions.block_date >= '${from}'`}
GROUP BY contract, method, error, revert_id
ORDER BY transactions_count DESC
LIMIT 100`;

export const pricesSql = (period: string, from: string | null) => `SELECT ${start(period, 'block_timestamp')} AS period, quantiles(0.1, 0.5, 0.9)(toFloat64(effective_gas_price) / 1e9) AS gwei
FROM v_transactions${from === null ? '' : `\nWHERE block_date >= '${from}'`}
GROUP BY period
ORDER BY period`;

export const transfersSql = (token: string, period: string) => `SELECT ${start(period, 'block_timestamp')} AS period, count() AS transfers, countIf(from_address = unhex(repeat('00', 20))) AS mints, countIf(to_address = unhex(repeat('00', 20))) AS burns,
  uniqExactIf(from_address, from_address != unhex(repeat('00', 20))) AS senders, uniqExactIf(to_address, to_address != unhex(repeat('00', 20))) AS receivers
FROM v_token_transfers
WHERE token_address = unhex('${token.slice(2)}')
GROUP BY period
ORDER BY period`;

export const sendersSql = (period: string, from: string | null) => `SELECT ${start(period, 'block_timestamp')} AS period, count() AS transactions, countIf(status = 0) AS failed, sumIf(gas_used * effective_gas_price, status = 0) / 1e18 AS failed_fees,
  uniqExact(from_address) AS senders, countIf(nonce = 0) AS new_senders
FROM v_transactions${from === null ? '' : `\nWHERE block_date >= '${from}'`}
GROUP BY period
ORDER BY period`;

export const sameCodeSql = (code: string) => `SELECT concat('0x', lower(hex(creator))) AS created_by, count() AS creations, min(block_timestamp) AS first, max(block_timestamp) AS last
FROM v_contracts
WHERE code_hash = unhex('${code.slice(2)}')
GROUP BY creator
ORDER BY creations DESC
LIMIT 50`;
