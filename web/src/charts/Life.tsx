// The activity of a contract over its whole life: its events, the methods that transactions called, why some failed, and its transfers
// if it is a token.
import { useMemo } from 'preact/hooks';
import { type Answer, isSettled, useApi } from '../api/use_api.ts';
import { count } from '../format/amount.ts';
import { AnswerView } from '../parts/Answer.tsx';
import { ChartPanel } from './ChartPanel.tsx';
import { FailureReasons, type Failures, useFailures } from './Failures.tsx';
import { calendarOf, isFew, lineOf, type LoadedDays, partOf, type Period, seriesOf, shortSignature } from './periods.ts';
import type { Series } from './Plot.tsx';
import { eventsSql, methodsSql, transfersSql } from './sql.ts';

interface Events extends Period { topic0: string | null; signature: string | null; logs_count: number }
interface Methods extends Period { method_id: string | null; signature: string | null; transactions_count: number; failed_count: number | null }
interface Transfers extends Period { transfers_count: number; mints_count: number; burns_count: number; senders_count: number | null; receivers_count: number | null }
interface Activity<T> { items: T[]; loaded: LoadedDays[] }

/** The most lines of a chart: more are hard to distinguish. */
const MAX_SERIES = 5;

interface LifeAnswers { events: Answer<Activity<Events>>; methods: Answer<Activity<Methods>>; failures: Answer<Failures>; transfers: Answer<Activity<Transfers>> }

/** Requests the activity of a contract; no request is sent for `null`. */
export function useLife(contract: string | null, period: string): LifeAnswers {
  const path = (rest: string) => (contract === null ? null : `/api/v2/${rest}?resolution=${period}`);
  const events = useApi<Activity<Events>>(path(`addresses/${contract}/activity/events`));
  const methods = useApi<Activity<Methods>>(path(`addresses/${contract}/activity/methods`));
  const failures = useFailures(contract);
  const transfers = useApi<Activity<Transfers>>(path(`tokens/${contract}/activity`));
  return { events, methods, failures, transfers };
}

/** The charts appear from the top down, so that the layout does not shift. */
export function Life({ of: { events, methods, failures, transfers }, contract, period }: { of: LifeAnswers; contract: string; period: string }) {
  return (
    <>
      <AnswerView answer={events} lines={20} compact>{(data) => <EventsChart of={data} contract={contract} period={period} />}</AnswerView>
      {isSettled(events) && <AnswerView answer={methods} lines={20} compact>{(data) => <MethodsChart of={data} contract={contract} period={period} />}</AnswerView>}
      {isSettled(events) && isSettled(methods) && <FailureReasons of={failures} contract={contract} />}
      {isSettled(events) && isSettled(methods) && isSettled(failures) && <AnswerView answer={transfers} lines={20} compact>{(data) => (data.items.length > 0 ? <TransfersCharts of={data} contract={contract} period={period} /> : null)}</AnswerView>}
    </>
  );
}

function EventsChart({ of: { items, loaded }, contract, period }: { of: Activity<Events>; contract: string; period: string }) {
  const { x, series } = useMemo(() => {
    const calendar = calendarOf(items, loaded, period);
    return { x: calendar.x, series: seriesOf(calendar, items, (item) => shortSignature(item.signature, item.topic0, 'anonymous'), (item) => item.logs_count, MAX_SERIES) };
  }, [items]);
  return <ChartPanel id="events" title={`Events by ${period.toLowerCase()}`} about={totalText(items, items.reduce((sum, item) => sum + item.logs_count, 0), 'logs')} x={x} axis="time" series={series} bars={series.length === 1 && isFew(x)} sql={eventsSql(contract, period)} empty="This address emitted no logs in loaded blocks." />;
}

function MethodsChart({ of: { items, loaded }, contract, period }: { of: Activity<Methods>; contract: string; period: string }) {
  const { x, series } = useMemo(() => {
    const calendar = calendarOf(items, loaded, period);
    const methods = seriesOf(calendar, items, (item) => shortSignature(item.signature, item.method_id, 'no method'), (item) => item.transactions_count, MAX_SERIES);
    if (items.some((item) => item.failed_count === null)) return { x: calendar.x, series: methods };
    const failed = seriesOf(calendar, items, () => 'Failed', (item) => item.failed_count ?? 0, MAX_SERIES);
    return { x: calendar.x, series: [...methods, ...failed] };
  }, [items]);
  return <ChartPanel id="methods" title={`Incoming transactions by ${period.toLowerCase()} and method`} about={totalText(items, items.reduce((sum, item) => sum + item.transactions_count, 0), 'transactions')} x={x} axis="time" series={series} sql={methodsSql(contract, period)} empty="No transactions to this address in loaded blocks." />;
}

function TransfersCharts({ of: { items, loaded }, contract, period }: { of: Activity<Transfers>; contract: string; period: string }) {
  const { x, series, participants } = useMemo(() => {
    const calendar = calendarOf(items, loaded, period);
    const line = (name: string, value: (item: Transfers) => number | null): Series => lineOf(calendar, items, name, value);
    return {
      x: calendar.x,
      series: [line('Transfers', (item) => item.transfers_count), line('Mints', (item) => item.mints_count), line('Burns', (item) => item.burns_count)],
      participants: [line('Senders', (item) => item.senders_count), line('Receivers', (item) => item.receivers_count)],
    };
  }, [items]);
  const isCounted = items.some((item) => item.senders_count !== null);
  return (
    <>
      <ChartPanel id="transfers" title={`Token transfers by ${period.toLowerCase()}`} about={totalText(items, items.reduce((sum, item) => sum + item.transfers_count, 0), 'transfers')} x={x} axis="time" series={series} sql={transfersSql(contract, period)} />
      {isCounted && <ChartPanel id="participants" title={`Addresses that moved the token by ${period.toLowerCase()}`} about="An address is counted once per point. Points whose blocks can still change are left out." x={x} axis="time" series={participants} sql={transfersSql(contract, period)} />}
    </>
  );
}

const totalText = (items: Period[], total: number, what: string) => (items.length === 0 ? undefined : `${count(total)} ${what} in all.${partOf(items)}`);
