// Gas prices: what the newest blocks paid, the base fee of the next one, and the cost of usual transactions.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, Problem } from '../api/request.ts';
import { isSettled, useApi } from '../api/use_api.ts';
import { ChartPanel } from '../charts/ChartPanel.tsx';
import { withGroups } from '../format/amount.ts';
import { costOf, type FeeHistory, nextBaseFee, pointsOf, USUAL } from '../format/gas.ts';
import { AnswerView, Failure, Loading } from '../parts/Answer.tsx';
import { Coins, Gwei } from '../parts/Amount.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Height } from '../parts/Hash.tsx';
import { Time } from '../parts/Time.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';

/** In gwei. */
interface Prices { slow: number | null; average: number | null; fast: number | null }
interface Stats { gas_prices: Prices | null; gas_price_updated_at: string | null }

const BLOCKS = 60;
/** The percentiles of priority fees, weighted by gas. */
const PERCENTILES = [10, 50, 90];
/** The least time between two requests while the page is visible, in milliseconds. */
const INTERVAL = 20_000;
const SPEEDS = [['slow', 'Slow'], ['average', 'Average'], ['fast', 'Fast']] as const;

interface History { data?: FeeHistory; /** Why there are no priority fees. */ noTips?: string; problem?: Problem }

/** Fees of the newest blocks; without priority fees where the receipts of these are not loaded. */
function useFeeHistory(round: number): History {
  const [history, setHistory] = useState<History>({});
  useEffect(() => {
    let isUnmounted = false;
    const show = (next: History) => { if (!isUnmounted) setHistory(next); };
    const ask = (percentiles: number[]) => call<FeeHistory>('eth_feeHistory', [`0x${BLOCKS.toString(16)}`, 'latest', percentiles]);
    ask(PERCENTILES).then((data) => show({ data }), (failure: Problem) => {
      ask([]).then((data) => show({ data, noTips: failure.message }), (problem: Problem) => show({ problem }));
    });
    return () => { isUnmounted = true; };
  }, [round]);
  return history;
}

export function Gas() {
  useTitle('Gas prices');
  const [round, setRound] = useState(0);
  const stats = useApi<Stats>('/api/v2/stats');
  const history = useFeeHistory(round);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      setRound((count) => count + 1);
      stats.refetch();
    }, INTERVAL);
    return () => clearInterval(timer);
  }, [stats.refetch]);
  return (
    <>
      <h1>Gas prices</h1>
      {(!history.data && !history.problem) || !isSettled(stats) ? <Loading lines={30} /> : (
        <>
          <AnswerView answer={stats} lines={14}>{(data) => <PricePanels stats={data} history={history} />}</AnswerView>
          {history.data ? <Charts history={history.data} noTips={history.noTips} /> : history.problem && <Failure problem={history.problem} />}
        </>
      )}
    </>
  );
}

function PricePanels({ stats, history }: { stats: Stats; history: History }) {
  const prices = stats.gas_prices;
  const known = SPEEDS.map(([speed, name]) => ({ name, price: prices?.[speed] ?? null }));
  const base = history.data ? nextBaseFee(history.data) : null;
  const why = 'The receipts of the newest blocks are not loaded, or these blocks have no transactions';
  return (
    <>
      <section class="panel">
        <Facts>
          {known.map(({ name, price }) => <Fact key={name} name={name} hint={HINTS[name]}>{price === null ? <Unknown why={why} /> : <Gwei wei={String(Math.round(price * 1e9))} whole />}</Fact>)}
          <Fact name="Base fee of the next block" hint="What every gas of the next block pays at least, and what is burnt">{history.data ? base === null ? <span class="quiet">none: the newest blocks have no base fee</span> : <Gwei wei={base.toString()} whole /> : history.problem ? <Unknown why={history.problem.message} /> : '…'}</Fact>
          <Fact name="As of">{stats.gas_price_updated_at ? <Time at={stats.gas_price_updated_at} both /> : <Unknown />}</Fact>
        </Facts>
        <p class="quiet">Prices that transactions of the newest 20 blocks paid, not a forecast: the 35th, 60th and 90th percentile.</p>
      </section>
      <h2>What usual transactions cost</h2>
      <table class="list" aria-label="Costs">
        <thead><tr><th scope="col">Transaction</th><th scope="col" class="right">Gas, about</th>{known.map(({ name }) => <th key={name} scope="col" class="right">{name}</th>)}</tr></thead>
        <tbody>{USUAL.map(([what, gas]) => (
          <tr key={what}><td data-name="Transaction"><div>{what}</div></td><td data-name="Gas, about" class="right"><div>{gas.toLocaleString('en')}</div></td>
            {known.map(({ name, price }) => <td key={name} data-name={name} class="right"><div>{price === null ? <Unknown why={why} /> : <Coins wei={costOf(gas, price)} />}</div></td>)}
          </tr>
        ))}</tbody>
      </table>
      <p class="quiet">Rollups add a fee for the data on their parent chain, which is not in these costs.</p>
    </>
  );
}

const HINTS: Record<string, string> = { Slow: 'The 35th percentile of prices paid', Average: 'The 60th percentile of prices paid', Fast: 'The 90th percentile of prices paid' };

function Charts({ history, noTips }: { history: FeeHistory; noTips: string | undefined }) {
  const points = useMemo(() => pointsOf(history), [history]);
  const x = useMemo(() => points.map((point) => point.height), [points]);
  const fees = useMemo(() => [{ name: 'Base fee', values: points.map((point) => point.baseFee) }], [points]);
  const tips = useMemo(() => ['10th percentile', '50th percentile', '90th percentile'].map((name, at) => ({ name, values: points.map((point) => point.tips[at] ?? null) })), [points]);
  const fullness = useMemo(() => [{ name: 'Gas used', values: points.map((point) => point.fullness) }], [points]);
  const [first, last] = [points[0], points.at(-1)];
  return (
    <>
      <h2>The newest {points.length} blocks</h2>
      {first && last && <p class="quiet">Blocks <Height of={first.height} /> to <Height of={last.height} />, as <code>eth_feeHistory</code> has them.</p>}
      <ChartPanel id="base-fee" title="Base fee" x={x} axis="height" series={fees} unit="gwei" />
      {noTips ? <p class="empty">Priority fees are not known: {withGroups(noTips)}</p> : <ChartPanel id="priority-fee" title="Priority fees" about="Weighted by gas; blocks without transactions have none." x={x} axis="height" series={tips} unit="gwei" />}
      <ChartPanel id="gas-used" title="Gas used" about="In percent of the gas limit." x={x} axis="height" series={fullness} bars unit="%" />
    </>
  );
}
