// Transactions of the chain by period: senders, gas prices, failures and their fees.
import { useMemo } from 'preact/hooks';
import { useApi } from '../api/use_api.ts';
import { AnswerView, Failure } from '../parts/Answer.tsx';
import { chain } from '../state/chain.ts';
import { ChartPanel } from './ChartPanel.tsx';
import { beginOf, calendarOf, lineOf, type LoadedDays, type Period, withGaps } from './periods.ts';
import { pricesSql, sendersSql } from './sql.ts';

interface Sums extends Period {
  transactions_count: number; failed_count: number | null; fees: string | null; failed_fees: string | null;
  gas_price_p10: string | null; gas_price_p50: string | null; gas_price_p90: string | null; senders_count: number; new_senders_count: number | null;
}
interface Activity { items: Sums[]; loaded: LoadedDays[]; block_number: number | null }

/** `newest` is the time of the newest block. */
export function Senders({ period, newest }: { period: string; newest: string }) {
  const from = beginOf(period, newest);
  const answer = useApi<Activity>(`/api/v2/stats/activity?resolution=${period}${from ? `&from=${from}` : ''}`);
  if (answer.problem && !answer.data) return <section class="panel"><header><h2>Accounts, gas prices and failures</h2></header><Failure problem={answer.problem} refetch={answer.refetch} compact /></section>;
  return <AnswerView answer={answer} lines={5} compact>{(data) => <ActivityCharts of={data} period={period} from={from} />}</AnswerView>;
}

function ActivityCharts({ of: { items, loaded, block_number }, period, from }: { of: Activity; period: string; from: string | null }) {
  const { x, senders, failures, fees, prices } = useMemo(() => {
    const calendar = calendarOf(items, loaded, period);
    const line = (name: string, value: (item: Sums) => number | null) => lineOf(calendar, items, name, value);
    const quotient = (name: string, value: (item: Sums) => number | null) => withGaps(line(name, value), calendar, items);
    const gwei = (wei: string | null) => (wei === null ? null : Number(wei) / 1e9);
    const coins = (wei: string | null) => (wei === null ? null : Number(wei) / 1e18);
    return {
      x: calendar.x,
      senders: [line('All', (item) => item.senders_count), line('Returning', (item) => returningSenders(item)), line('New', (item) => item.new_senders_count)],
      failures: [quotient('Transactions that failed', (item) => share(item))],
      fees: [line('Fees of failed transactions', (item) => coins(item.failed_fees))],
      prices: [quotient('10th percentile', (item) => gwei(item.gas_price_p10)), quotient('50th percentile', (item) => gwei(item.gas_price_p50)), quotient('90th percentile', (item) => gwei(item.gas_price_p90))],
    };
  }, [items]);
  const upTo = block_number === null ? '' : ` Up to block ${block_number.toLocaleString('en')}.`;
  const sql = sendersSql(period, from);
  return (
    <>
      <ChartPanel id="senders" title={`Accounts that sent transactions by ${period.toLowerCase()}`} about={`New accounts are those that sent their first transaction, with nonce 0.${upTo}`} x={x} axis="time" series={senders} sql={sql} />
      <ChartPanel id="paid-prices" title={`Gas prices paid by ${period.toLowerCase()}`} about={`Accurate to 1 %.${upTo}`} x={x} axis="time" series={prices} unit="gwei" sql={pricesSql(period, from)} />
      <ChartPanel id="failures" title={`Failed transactions by ${period.toLowerCase()}`} about={`As a share of all transactions.${upTo}`} x={x} axis="time" series={failures} bars unit="%" sql={sql} />
      <ChartPanel id="failed-fees" title={`Fees of failed transactions by ${period.toLowerCase()}`} about={`Fees paid for gas.${upTo}`} x={x} axis="time" series={fees} bars unit={chain.value.symbol} sql={sql} />
    </>
  );
}

const returningSenders = (item: Sums) => (item.new_senders_count === null ? null : item.senders_count - item.new_senders_count);
const share = (item: Sums) => (item.failed_count === null || item.transactions_count === 0 ? null : (100 * item.failed_count) / item.transactions_count);
