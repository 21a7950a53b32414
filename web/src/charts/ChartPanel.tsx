// A chart with its title, its data as a file, and the SQL for it.
import { absolute } from '../format/time.ts';
import { DataPanel } from './DataPanel.tsx';
import { Plot, type Series } from './Plot.tsx';

interface Props { id: string; title: string; about?: string; x: number[]; axis: 'time' | 'height'; series: Series[]; bars?: boolean; steps?: boolean; unit?: string; sql?: string; empty?: string }

export function ChartPanel({ id, title, about, x, axis, series, bars, steps, unit, sql, empty }: Props) {
  const head = [axis === 'time' ? 'time' : 'block', ...series.map((one) => one.name)];
  const rows = () => x.map((at, index) => [axis === 'time' ? absolute(at) : at, ...series.map((one) => one.values[index] ?? null)]);
  return (
    <DataPanel id={id} title={title} unit={unit} about={about} sql={sql} head={head} rows={rows} hasRows={x.length > 0} kind="chart">
      {x.length === 0 ? <p class="empty">{empty ?? 'No data.'}</p> : x.length === 1 ? <SinglePoint at={x[0] as number} axis={axis} series={series} unit={unit} /> : <Plot x={x} axis={axis} series={series} bars={bars} steps={steps} label={title} unit={unit} />}
    </DataPanel>
  );
}

/** A single point, whose value is shown as text. */
function SinglePoint({ at, axis, series, unit }: { at: number; axis: 'time' | 'height'; series: Series[]; unit?: string }) {
  return (
    <p class="single">
      {series.map((one) => <strong key={one.name}>{series.length > 1 && <span class="quiet">{one.name} </span>}{one.values[0] === null || one.values[0] === undefined ? 'unknown' : `${one.values[0].toLocaleString('en', { maximumSignificantDigits: 6 })} ${unit ?? ''}`}</strong>)}
      <span class="quiet">{axis === 'time' ? absolute(at).slice(0, 10) : `block ${at.toLocaleString('en')}`}, the only data point</span>
    </p>
  );
}
