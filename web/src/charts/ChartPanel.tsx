// A chart with its title, its data as a file, and the SQL that gives the same.
import { useState } from 'preact/hooks';
import { Copy } from '../parts/Copy.tsx';
import { absolute } from '../format/time.ts';
import { csvText, saveText } from './file.ts';
import { Plot, type Series } from './Plot.tsx';

interface Props { id: string; title: string; about?: string; x: number[]; axis: 'time' | 'place'; series: Series[]; bars?: boolean; unit?: string; sql?: string; empty?: string }

export function ChartPanel({ id, title, about, x, axis, series, bars, unit, sql, empty }: Props) {
  const [open, setOpen] = useState(false);
  const save = () => saveText(`${id}.csv`, csvText([axis === 'time' ? 'time' : 'block', ...series.map((one) => one.name)], x.map((at, index) => [axis === 'time' ? absolute(at) : at, ...series.map((one) => one.values[index] ?? null)])));
  return (
    <section class="panel chart">
      <header><h2>{title}</h2>
        <span class="row">
          {x.length > 0 && <button type="button" class="button small" onClick={save}>CSV</button>}
          {sql && <button type="button" class="button small" aria-expanded={open} onClick={() => setOpen(!open)}>SQL</button>}
        </span>
      </header>
      {about && <p class="quiet">{about}</p>}
      {open && sql && <div class="snippet"><pre class="json" tabIndex={0}>{sql}</pre><Copy text={sql} what="SQL" label="Copy" /></div>}
      {x.length === 0 ? <p class="empty">{empty ?? 'There is no data for it.'}</p> : x.length === 1 ? <Single at={x[0] as number} axis={axis} series={series} unit={unit} /> : <Plot x={x} axis={axis} series={series} bars={bars} label={title} unit={unit} />}
    </section>
  );
}

/** One point is no chart: its value in words. */
function Single({ at, axis, series, unit }: { at: number; axis: 'time' | 'place'; series: Series[]; unit?: string }) {
  return (
    <p class="single">
      {series.map((one) => <strong key={one.name}>{one.values[0] === null || one.values[0] === undefined ? 'unknown' : `${one.values[0].toLocaleString('en', { maximumSignificantDigits: 6 })} ${unit ?? ''}`}</strong>)}
      <span class="quiet">{axis === 'time' ? absolute(at).slice(0, 10) : `block ${at.toLocaleString('en')}`}, the only one that is known</span>
    </p>
  );
}
