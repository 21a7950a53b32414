// Rows of a scan as they stream in: how many, over time, and the first of them.
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
import { type Mark, stream } from './stream.ts';

const MOST_KEPT = 1000;
const STEP = 50;
const REDRAW = 300;

interface Progress { rows: number; bytes: number; block: number | null; shown: Row[]; seconds: number; mark?: Mark; problem?: Problem; stopped?: boolean; x: number[]; values: number[] }

export function Results({ filter }: { filter: Filter }) {
  const [progress, setProgress] = useState<Progress>({ rows: 0, bytes: 0, block: null, shown: [], seconds: 0, x: [], values: [] });
  const [open, setOpen] = useState(STEP);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const abort = stop.current;
    const began = Date.now();
    const buckets = new Buckets();
    const so: Progress = { rows: 0, bytes: 0, block: null, shown: [], seconds: 0, x: [], values: [] };
    let drawn = 0;
    const tell = (more: Partial<Progress> = {}) => {
      drawn = Date.now();
      const { x, series } = buckets.series(1);
      setProgress({ ...so, shown: [...so.shown], seconds: (drawn - began) / 1000, x, values: series[0]?.values ?? [], ...more });
    };
    stream<Row>(scanPath(filter, { format: 'ndjson' }), abort.signal, (batch, size) => {
      so.rows += batch.length;
      so.bytes += size;
      for (const row of batch) buckets.add(Number(row.blockTimestamp), '');
      if (so.shown.length < MOST_KEPT) so.shown.push(...batch.slice(0, MOST_KEPT - so.shown.length));
      so.block = Number(batch.at(-1)?.blockNumber ?? 0);
      if (Date.now() - drawn > REDRAW) tell();
    }).then((mark) => tell({ mark }), (failure: unknown) => {
      if (abort.signal.aborted) tell({ stopped: true });
      else tell({ problem: failure instanceof Problem ? failure : new Problem(0, String(failure)) });
    });
    return () => abort.abort();
  }, []);
  const { rows, mark, problem, stopped, shown, x, values } = progress;
  const running = !mark && !problem && !stopped;
  const series = useMemo(() => [{ name: 'Rows', values }], [values]);
  const columns = useMemo(() => columnsOf(filter, shown[0]), [filter, shown.length > 0]);
  return (
    <>
      <section class="panel" aria-live="polite">
        <header><h2>{KINDS[filter.kind]}</h2>{running && <button type="button" class="button small" onClick={() => stop.current.abort()}>Stop</button>}</header>
        <p class="live"><strong class="big">{count(rows)}</strong> rows {running ? 'so far' : mark ? 'in all' : 'until it ended'}, {bytes(progress.bytes)} in {progress.seconds.toFixed(1)} s
          {running && progress.block !== null && <span class="quiet">, at block {count(progress.block)}</span>}
          {mark && <span class="quiet">, blocks {count(Number(mark.fromBlock))} to {count(Number(mark.toBlock))}</span>}</p>
        {mark && !mark.complete && <p class="failure compact" role="note"><strong>Not all blocks of the range are loaded.</strong> <span>{mark.missing.length} ranges are missing: these are the rows of the others. <a href="/status">What is loaded</a></span></p>}
        {stopped && <p class="quiet">It was stopped; these rows are not all.</p>}
        {problem && <Failure problem={problem} compact />}
      </section>
      {x.length > 0 && <ChartPanel id="rows" title="Rows over time" x={x} axis="time" series={series} bars sql={sql(filter)} />}
      {(shown.length > 0 || !running) && !problem && (
        <>
          <Table items={shown.slice(0, open)} columns={columns} id={idOf} label="Rows" empty="No row fits." />
          {rows > open && (
            <p class="pages">
              {open < shown.length && <button type="button" class="button small" onClick={() => setOpen(open + STEP)}>Show more</button>}
              <span class="quiet">The first {count(Math.min(open, shown.length))} of {count(rows)} rows are shown. A file has all of them.</span>
            </p>
          )}
        </>
      )}
    </>
  );
}
