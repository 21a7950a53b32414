// The rows of a statement as they arrive: their number, what was read, the first of them, and a chart if they can be drawn.
import { useMemo, useState } from 'preact/hooks';
import type { Problem } from '../api/request.ts';
import { ChartPanel } from '../charts/ChartPanel.tsx';
import { bytes, count } from '../format/amount.ts';
import { visible } from '../format/hash.ts';
import { Failure } from '../parts/Answer.tsx';
import type { Column, Cost } from './client.ts';
import { chartOf, isBytes, isNull, isNumber, isTime } from './values.ts';

/** The most rows that are received; the statement is cancelled there. */
export const MAX_ROWS = 10_000;
const PAGE_SIZE = 50;
const MAX_LENGTH = 300;

export interface Outcome {
  statement: string;
  columns: Column[];
  rows: string[][];
  totals?: string[] | undefined;
  cost: Cost | null;
  seconds: number;
  state: 'running' | 'whole' | 'capped' | 'stopped' | 'failed';
  problem?: Problem;
}

const STATE_TEXT = { running: 'so far', whole: 'in all', capped: 'received', stopped: 'until it was stopped', failed: 'until it failed' } as const;

export function Rows({ outcome, stop }: { outcome: Outcome; stop: () => void }) {
  const { columns, rows, totals, cost, seconds, state, problem } = outcome;
  const [visibleCount, setVisibleCount] = useState(PAGE_SIZE);
  const chart = useMemo(() => (state === 'running' ? null : chartOf(columns, rows)), [state, columns, rows]);
  return (
    <>
      <section class="panel" aria-live="polite">
        <header><h2>Rows</h2>{state === 'running' && <button type="button" class="button small" onClick={stop}>Stop</button>}</header>
        <p class="live"><strong class="big">{count(rows.length)}</strong> rows {STATE_TEXT[state]}, {seconds.toFixed(1)} s
          {cost && <span class="quiet">, {count(cost.rows)}{state === 'running' && cost.total > cost.rows ? ` of ${count(cost.total)}` : ''} rows of {bytes(cost.bytes)} read</span>}</p>
        {state === 'running' && cost !== null && cost.total > 0 && <meter aria-label="Share that is read" value={Math.min(1, cost.rows / cost.total)} />}
        {state === 'capped' && <p class="failure compact lack" role="note"><strong>There are more rows.</strong> <span>The first {count(MAX_ROWS)} were received, and the statement was ended there. A file has all.</span></p>}
        {state === 'stopped' && <p class="quiet">The statement was stopped, so these rows are incomplete.</p>}
        {problem && <Failure problem={problem} compact />}
        {columns.some((column) => isBytes(column.type)) && <p class="quiet">{columns.filter((column) => isBytes(column.type)).map((column) => column.name).join(', ')}: binary values; <code>hex0x({columns.find((column) => isBytes(column.type))?.name})</code> shows them.</p>}
      </section>
      {chart && <ChartPanel id="sql" title="Chart" x={chart.x} axis={chart.axis} series={chart.series} />}
      {columns.length > 0 && (rows.length > 0 || state === 'whole') && (
        <>
          <div class="sheet" tabIndex={0} role="region" aria-label="Rows of the statement">
            <table>
              <thead><tr>{columns.map((column, index) => <th key={index} scope="col" class={isNumber(column.type) ? 'right' : undefined}>{visible(column.name)}<small>{column.type}</small></th>)}</tr></thead>
              <tbody>{rows.slice(0, visibleCount).map((row, index) => <tr key={index}>{columns.map((column, at) => <Cell key={at} value={row[at] ?? ''} column={column} />)}</tr>)}</tbody>
              {totals && <tfoot><tr>{columns.map((column, at) => <Cell key={at} value={totals[at] ?? ''} column={column} />)}</tr></tfoot>}
            </table>
          </div>
          {rows.length === 0 && <p class="empty">The statement returned no rows.</p>}
          {rows.length > visibleCount && <p class="pages"><button type="button" class="button small" onClick={() => setVisibleCount(visibleCount * 2)}>Show more</button> <span class="quiet">The first {count(visibleCount)} of {count(rows.length)} are shown.</span></p>}
        </>
      )}
    </>
  );
}

function Cell({ value, column }: { value: string; column: Column }) {
  const text = value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value;
  const shown = isBytes(column.type) && /[\ufffd\p{Cc}]/u.test(value) ? <span class="quiet">bytes</span>
    : isNull(value) ? <span class="unknown" title="NULL">NULL</span>
    : /^0x[0-9a-f]{40}$/i.test(value) ? <a href={`/address/${value}`}>{value}</a>
    : /^0x[0-9a-f]{64}$/i.test(value) ? <a href={`/search?q=${value}`}>{value}</a>
    : visible(text);
  return <td class={isNumber(column.type) ? 'right' : isTime(column.type) ? 'time' : undefined}>{shown}</td>;
}
