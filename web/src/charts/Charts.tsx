// Charts of the chain, of its newest blocks, and of one contract over its whole life.
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { isSettled, useApi } from '../api/use_api.ts';
import type { Block, Page } from '../api/types.ts';
import { AnswerView } from '../parts/Answer.tsx';
import { useTitle } from '../parts/title.ts';
import { chain } from '../state/chain.ts';
import { ChartPanel } from './ChartPanel.tsx';
import { ContractLife } from './ContractLife.tsx';
import { FailureReasons, useAllFailures } from './Failures.tsx';
import { HotContracts } from './HotContracts.tsx';
import { beginOf, calendarOf, isFew, lineOf } from './periods.ts';
import { PeriodChoice, usePeriod } from './PeriodChoice.tsx';
import { Senders } from './Senders.tsx';
import { lineSql, newestSql } from './sql.ts';

interface Line { id: string; title: string; description: string; units: string | null }
interface Lines { sections: { id: string; title: string; charts: Line[] }[] }
interface Points { chart: { date: string; value: string; is_approximate: boolean }[] }

/** The sections of the page. */
const SECTIONS = [['newest', 'Newest blocks'], ['contract', 'One contract'], ['called', 'Most called'], ['failures', 'Failures'], ['periods', 'By day, week or month']] as const;

export function Charts() {
  useTitle('Charts');
  const period = usePeriod();
  const blocks = useApi<Page<Block>>('/api/v2/blocks?items_count=100');
  const newest = blocks.data?.items[0]?.timestamp;
  const lines = useApi<Lines>('/stats-service/api/v1/lines');
  const recent = newest === undefined ? null : beginOf('DAY', newest);
  const failures = useAllFailures(recent);
  return (
    <>
      <h1>Charts</h1>
      <nav class="row index" aria-label="Charts on this page">{SECTIONS.map(([id, name]) => <a key={id} href={`#${id}`}>{name}</a>)}</nav>
      <h2 id="newest">The newest {blocks.data && blocks.data.items.length > 1 ? `${blocks.data.items.length} ` : ''}loaded blocks</h2>
      {isSettled(blocks) ? <AnswerView answer={blocks}>{(page) => <BlockCharts blocks={page.items} />}</AnswerView> : <BlockChartsRoom />}
      <div id="contract"><ContractLife period={period} /></div>
      <div id="called"><HotContracts /></div>
      <div id="failures"><FailureReasons of={failures} contract={null} from={recent} /></div>
      <div class="tools" id="periods"><h2>The chain by {period.toLowerCase()}</h2><PeriodChoice /></div>
      <div class="charts">
        {newest && <Senders period={period} newest={newest} />}
        <AnswerView answer={lines}>{(data) => <LineCharts lines={data.sections.flatMap((section) => section.charts)} period={period} />}</AnswerView>
      </div>
    </>
  );
}

/** The room of the charts of blocks, so that the layout does not shift. */
const BlockChartsRoom = () => <div class="charts" role="status"><span class="hidden">Loading</span>{[1, 2, 3, 4].map((chart) => <div key={chart} class="panel room" />)}</div>;

function BlockCharts({ blocks }: { blocks: Block[] }) {
  const { x, transactions, used, fees, paid } = useMemo(() => {
    const order = blocks.toReversed();
    const gwei = (wei: string | null) => (wei === null ? null : Number(wei) / 1e9);
    const coins = (wei: string | null) => (wei === null ? null : Number(wei) / 1e18);
    return {
      x: order.map((block) => block.height),
      transactions: [{ name: 'Transactions', values: order.map((block) => block.transactions_count) }],
      used: [{ name: 'Gas used', values: order.map((block) => block.gas_used_percentage) }],
      fees: [{ name: 'Base fee', values: order.map((block) => gwei(block.base_fee_per_gas)) }],
      paid: [{ name: 'Fees', values: order.map((block) => coins(block.transaction_fees)) }, { name: 'Burnt', values: order.map((block) => coins(block.burnt_fees)) }],
    };
  }, [blocks]);
  return (
    <div class="charts">
      <ChartPanel id="newest-transactions" title="Transactions per block" x={x} axis="height" series={transactions} bars sql={newestSql('transactions_count')} />
      <ChartPanel id="newest-gas" title="Share of the gas limit used" x={x} axis="height" series={used} bars unit="%" sql={newestSql('100 * gas_used / gas_limit AS used')} />
      <ChartPanel id="newest-base-fee" title="Base fee" x={x} axis="height" series={fees} unit="gwei" sql={newestSql('base_fee_per_gas / 1e9 AS gwei')} />
      <ChartPanel id="newest-fees" title="Fees paid and burnt" x={x} axis="height" series={paid} unit={chain.value.symbol} sql={newestSql('transaction_fees / 1e18 AS fees, base_fee_per_gas * gas_used / 1e18 AS burnt')} />
    </div>
  );
}

/** The charts that have points, and a list of those that have none. */
function LineCharts({ lines, period }: { lines: Line[]; period: string }) {
  const [empty, setEmpty] = useState<Record<string, boolean>>({});
  const reportEmpty = useCallback((id: string, isEmpty: boolean) => setEmpty((before) => (before[id] === isEmpty ? before : { ...before, [id]: isEmpty })), []);
  const emptyLines = lines.filter((line) => empty[line.id]);
  return (
    <>
      {lines.map((line) => <LineChart key={line.id} line={line} period={period} reportEmpty={reportEmpty} />)}
      {emptyLines.length > 0 && <p class="quiet none">No data: {emptyLines.map((line) => line.title).join(', ')}. A {period.toLowerCase()} has a point if all its blocks are loaded and have the value: base fees since London, blob gas since Cancun, fees with receipts, growth from block 0 on.</p>}
    </>
  );
}

function LineChart({ line, period, reportEmpty }: { line: Line; period: string; reportEmpty: (id: string, isEmpty: boolean) => void }) {
  const answer = useApi<Points>(`/stats-service/api/v1/lines/${line.id}?resolution=${period}`);
  const { x, series } = useMemo(() => {
    // Only periods whose blocks are all loaded have a point.
    const points = answer.data?.chart ?? [];
    const calendar = calendarOf(points, [], period);
    return { x: calendar.x, series: [lineOf(calendar, points, line.title, (point) => Number(point.value))] };
  }, [answer.data]);
  const isEmpty = answer.data !== undefined && x.length === 0;
  useEffect(() => reportEmpty(line.id, isEmpty), [line.id, isEmpty]);
  return (
    <AnswerView answer={answer} lines={5} compact>
      {() => (x.length === 0 ? null : <ChartPanel id={line.id} title={line.title} about={line.description} x={x} axis="time" series={series} bars={isFew(x)} unit={line.units ?? undefined} sql={lineSql(line.id, period)} />)}
    </AnswerView>
  );
}
