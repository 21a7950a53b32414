// The SQL that gives what a chart shows, for people who go on from there.

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
  averageTxnFee: ['sum(transaction_fees) / sum(transactions_count) / 1e18 AS value', 'v_blocks'],
};

const STARTS: Record<string, string> = { DAY: 'toStartOfDay(timestamp)', WEEK: 'toStartOfWeek(timestamp, 1)', MONTH: 'toStartOfMonth(timestamp)', YEAR: 'toStartOfYear(timestamp)' };

/** The SQL of a chart of the statistics service; nothing for one that is not known here. */
export function lineSql(id: string, period: string): string | undefined {
  const known = VALUES[id];
  if (!known) return undefined;
  return `SELECT ${STARTS[period] ?? STARTS['DAY']} AS period, ${known[0]}
FROM ${known[1]}
GROUP BY period
ORDER BY period`;
}

export const eventsSql = (contract: string) => `SELECT toStartOfDay(block_timestamp) AS day, concat('0x', lower(hex(topic0))) AS event, count() AS logs
FROM v_logs_by_contract
WHERE address = unhex('${contract.slice(2)}')
GROUP BY day, event
ORDER BY day`;
