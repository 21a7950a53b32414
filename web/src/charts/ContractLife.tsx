// The events of one contract over its whole life, counted while its logs stream in.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Problem } from '../api/request.ts';
import { count } from '../format/amount.ts';
import { isAddress } from '../format/hash.ts';
import { withQuery } from '../parts/Paged.tsx';
import { Failure } from '../parts/State.tsx';
import { Buckets } from '../scan/buckets.ts';
import { stream } from '../scan/stream.ts';
import { ChartPanel } from './ChartPanel.tsx';
import { eventsSql } from './sql.ts';

interface Shown { rows: number; done: boolean; problem?: Problem; x: number[]; series: { name: string; values: number[] }[] }
interface LogRow { blockTimestamp: string; topics: string[] }

const MOST_EVENTS = 5;

export function ContractLife() {
  const { path, query, route } = useLocation();
  const contract = query['contract'] ?? '';
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    if (!isAddress(contract)) {
      setShown(null);
      return undefined;
    }
    const stop = new AbortController();
    const buckets = new Buckets();
    let rows = 0;
    let drawn = 0;
    const tell = (done: boolean, problem?: Problem) => {
      if (!stop.signal.aborted) setShown({ rows, done, ...(problem && { problem }), ...buckets.series(MOST_EVENTS) });
    };
    stream<LogRow>(`/api/v2/scan/logs?fromBlock=0&address=${contract}&format=ndjson`, stop.signal, (batch) => {
      for (const row of batch) buckets.add(Number(row.blockTimestamp), row.topics[0] ?? 'anonymous');
      rows += batch.length;
      if (Date.now() - drawn > 500) {
        drawn = Date.now();
        tell(false);
      }
    }).then(() => tell(true), (failure: unknown) => tell(true, failure instanceof Problem ? failure : new Problem(0, String(failure))));
    return () => stop.abort();
  }, [contract]);
  const names = useEventNames(shown?.series.map((one) => one.name) ?? []);
  const series = useMemo(() => (shown?.series ?? []).map((one) => ({ ...one, name: names[one.name] ?? (one.name.startsWith('0x') ? `${one.name.slice(0, 10)}…` : one.name) })), [shown, names]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget as HTMLFormElement).get('contract');
    route(withQuery(path, query, { contract: String(typed ?? '').trim() }));
  };
  return (
    <section>
      <h2>A contract over its whole life</h2>
      <form class="tools" onSubmit={submit}>
        <input key={contract} name="contract" value={contract} placeholder="0x… address of a contract" aria-label="Address of a contract" size={46} pattern="0x[0-9a-fA-F]{40}" title="0x and 40 digits" />
        <button type="submit" class="button">Count its events</button>
        {shown && <span class="quiet" role="status">{count(shown.rows)} logs{shown.done ? '' : ' so far'}</span>}
        {isAddress(contract) && <a class="button small" href={`/scan?kind=logs&address=${contract}`}>As a scan</a>}
      </form>
      {shown?.problem && <Failure problem={shown.problem} compact />}
      {shown && !shown.problem && <ChartPanel id="events" title="Events over time" x={shown.x} axis="time" series={series} bars={series.length === 1} sql={eventsSql(contract)} empty={shown.done ? 'It emitted no logs.' : 'Waiting for the first logs.'} />}
    </section>
  );
}

/** Names of events by their hash, as the server knows them. */
function useEventNames(topics: string[]): Record<string, string> {
  const [names, setNames] = useState<Record<string, string>>({});
  const key = topics.join();
  useEffect(() => {
    for (const topic of topics.filter((one) => one.startsWith('0x'))) {
      fetch(`/assets/topic0/${topic.slice(2)}`).then(async (answer) => {
        if (!answer.ok) return;
        const name = (await answer.text()).split(';')[0]?.split('(')[0];
        if (name) setNames((before) => ({ ...before, [topic]: name }));
      }, () => {});
    }
  }, [key]);
  return names;
}
