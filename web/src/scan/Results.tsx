// The rows of a scan as they stream in: their number, a chart over time, and the first of them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { ChartPanel } from '../charts/ChartPanel.tsx';
import { bytes, count } from '../format/amount.ts';
import { Failure } from '../parts/Answer.tsx';
import { Table } from '../parts/list/Table.tsx';
import { Buckets } from './buckets.ts';
import { type Filter, KINDS, scanPath } from './filter.ts';
import { columnsOf, idOf, type Row } from './rows.tsx';
import { sql } from './snippets.ts';
import { type ScanEnd, stream } from './stream.ts';

/** The most rows that the table holds. */
const MAX_ROWS = 1000;
const PAGE_SIZE = 50;
/** How often rows are drawn while they stream in, in milliseconds. */
const REDRAW = 300;

interface Progress { rows: number; bytes: number; block: number | null; shown: Row[]; seconds: number; end?: ScanEnd; problem?: Problem; stopped?: boolean; x: number[]; values: number[] }

export function Results({ filter }: { filter: Filter }) {
  const [progress, setProgress] = useState<Progress>({ rows: 0, bytes: 0, block: null, shown: [], seconds: 0, x: [], values: [] });
  const [visibleCount, setVisibleCount] = useState(PAGE_SIZE);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const abort = stop.current;
    const startedAt = Date.now();
    const buckets = new Buckets();
    const current: Progress = { rows: 0, bytes: 0, block: null, shown: [], seconds: 0, x: [], values: [] };
    let drawnAt = 0;
    const publish = (changes: Partial<Progress> = {}) => {
      drawnAt = Date.now();
      const { x, series } = buckets.series(1);
      setProgress({ ...current, shown: [...current.shown], seconds: (drawnAt - startedAt) / 1000, x, values: series[0]?.values ?? [], ...changes });
    };
    stream<Row>(scanPath(filter, { format: 'ndjson' }), abort.signal, (batch, size) => {
      current.rows += batch.length;
      current.bytes += size;
      for (const row of batch) buckets.add(Number(row.blockTimestamp), '');
      if (current.shown.length < MAX_ROWS) current.shown.push(...batch.slice(0, MAX_ROWS - current.shown.length));
      current.block = Number(batch.at(-1)?.blockNumber ?? 0);
      if (Date.now() - drawnAt > REDRAW) publish();
    }).then((end) => publish({ end }), (failure: unknown) => {
      if (abort.signal.aborted) publish({ stopped: true });
      else publish({ problem: failure instanceof Problem ? failure : new Problem(0, String(failure)) });
    });
    return () => abort.abort();
  }, []);
  const { rows, end, problem, stopped, shown, x, values } = progress;
  const isRunning = !end && !problem && !stopped;
  const series = useMemo(() => [{ name: 'Rows', values }], [values]);
  const columns = useMemo(() => columnsOf(filter, shown[0]), [filter, shown.length > 0]);
  return (
    <>
      <section class="panel" aria-live="polite">
        <header><h2>{KINDS[filter.kind]}</h2>{isRunning && <button type="button" class="button small" onClick={() => stop.current.abort()}>Stop</button>}</header>
        <p class="live"><strong class="big">{count(rows)}</strong> rows {isRunning ? 'so far' : end ? 'in all' : 'until it stopped'}, {bytes(progress.bytes)} in {progress.seconds.toFixed(1)} s
          {isRunning && progress.block !== null && <span class="quiet">, at block {count(progress.block)}</span>}
          {end && <span class="quiet">, blocks {count(Number(end.fromBlock))} to {count(Number(end.toBlock))}</span>}</p>
        {end && !end.complete && <p class="failure compact" role="note"><strong>Not all blocks of the range are loaded.</strong> <span>{end.missing.length} ranges are missing; these are the rows of the other blocks. <a href="/status">What is loaded</a></span></p>}
        {stopped && <p class="quiet">The scan was stopped, so these rows are incomplete.</p>}
        {problem && <Failure problem={problem} compact />}
      </section>
      {x.length > 0 && <ChartPanel id="rows" title="Rows over time" x={x} axis="time" series={series} bars sql={sql(filter)} />}
      {(shown.length > 0 || !isRunning) && !problem && (
        <>
          <Table items={shown.slice(0, visibleCount)} columns={columns} id={idOf} label="Rows" empty="No rows match." />
          {rows > visibleCount && (
            <p class="pages">
              {visibleCount < shown.length && <button type="button" class="button small" onClick={() => setVisibleCount(visibleCount + PAGE_SIZE)}>Show more</button>}
              <span class="quiet">The first {count(Math.min(visibleCount, shown.length))} of {count(rows)} rows are shown. A file has all of them.</span>
            </p>
          )}
        </>
      )}
    </>
  );
}
