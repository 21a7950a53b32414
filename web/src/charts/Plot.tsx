// A chart of lines or bars. The library that draws it is loaded with the first chart.
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../state/view.ts';

export interface Series { name: string; values: (number | null)[] }

interface Props {
  /** Seconds since 1970 (`time`), or block heights in order (`height`). */
  x: number[];
  axis: 'time' | 'height';
  series: Series[];
  bars?: boolean;
  /** Draws steps: a value holds until the next one. */
  steps?: boolean;
  label: string;
  /** The unit of the values. */
  unit?: string;
}

const HEIGHT = 220;
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The library reads the language of the browser when it is loaded, and fails on an invalid one (`en-US@posix`). */
function ensureValidLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
  }
}

/** Numbers beside an axis: 1.2K, 3.4M, 8e-8. */
function brief(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(2).replace(/\.?0*e/, 'e');
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 }).format(value);
}

export function Plot({ x, axis, series, bars, steps, label, unit }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = theme.value;
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    let isUnmounted = false;
    let cleanUp = () => {};
    ensureValidLanguage();
    import('./uplot.ts').then(({ uPlot }) => {
      const at = box.current;
      if (isUnmounted || !at) return;
      const draw = () => new uPlot(options(uPlot, at.clientWidth, { x, axis, series, bars, steps, label, unit }), [axis === 'height' ? x.map((_, index) => index) : x, ...series.map((one) => one.values)], at);
      let plot = draw();
      const redraw = () => {
        plot.destroy();
        plot = draw();
      };
      const size = new ResizeObserver(() => plot.setSize({ width: at.clientWidth, height: HEIGHT }));
      size.observe(at);
      const system = matchMedia('(prefers-color-scheme: dark)');
      system.addEventListener('change', redraw);
      cleanUp = () => {
        size.disconnect();
        system.removeEventListener('change', redraw);
        plot.destroy();
      };
    }).catch(() => setFailed(true));
    return () => {
      isUnmounted = true;
      cleanUp();
    };
  }, [x, series, bars, scheme]);
  if (hasFailed) return <p class="empty">The chart could not be drawn; its data is in the file.</p>;
  return <div class="plot" ref={box} role="img" aria-label={label} />;
}

/** The positions of points without a neighbour, which no line would show. */
const lonePoints = (values: Series['values']) => values.flatMap((value, index) => (value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : []));

const DAY = 86_400;
/** Below this number of points each is marked. */
const FEW = 60;

/** Times below an axis, in UTC: years and months for long steps, the hour for short ones, with the day where it begins. */
function times(ticks: number[], step: number): string[] {
  return ticks.map((tick, index) => {
    const text = new Date(tick * 1000).toISOString();
    if (step >= 28 * DAY) return text.slice(0, 7);
    if (step >= DAY) return text.slice(0, 10);
    const hour = text.slice(11, step < 60 ? 19 : 16);
    const isNewDay = index === 0 || Math.floor(tick / DAY) !== Math.floor((ticks[index - 1] ?? tick) / DAY);
    return isNewDay ? `${hour}\n${text.slice(0, 10)}` : hour;
  });
}

function options(uPlot: typeof import('uplot'), width: number, { x, axis, series, bars, steps, unit }: Props): import('uplot').Options {
  const quiet = colour('--quiet');
  const line = { stroke: quiet, grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '12px system-ui, sans-serif' };
  const height = (value: number) => (x[value] === undefined ? '' : x[value].toLocaleString('en'));
  const tones = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6'];
  const paths = bars && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.7, 60], align: 0 }) } : steps && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {};
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: axis === 'time' }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
    cursor: { y: false },
    legend: { live: true },
    axes: [
      {
        ...line, size: 46, space: 90,
        values: (_: unknown, ticks: number[], __: unknown, ___: unknown, step: number) => (axis === 'height' ? ticks.map((tick) => (Number.isInteger(tick) ? height(tick) : '')) : times(ticks, step)),
      },
      { ...line, size: 62, values: (_: unknown, ticks: number[]) => ticks.map(brief) },
    ],
    series: [
      axis === 'height' ? { label: 'Block', value: (_: unknown, value: number | null) => (value === null ? '–' : height(value)) } : { label: 'Time (UTC)', value: '{YYYY}-{MM}-{DD} {HH}:{mm}' },
      ...series.map((one, index) => {
        const tone = colour(tones[index % tones.length] ?? '--series-1');
        const lone = lonePoints(one.values);
        return {
          label: one.name, stroke: tone, width: bars ? 0 : 2, fill: bars ? tone : `${tone}22`, points: { show: !bars, size: 5, fill: tone, ...(x.length >= FEW && { filter: () => lone }) }, ...paths,
          value: (_: unknown, value: number | null) => (value === null || value === undefined ? '–' : `${value.toLocaleString('en', { maximumSignificantDigits: 6 })}${unit ? ` ${unit}` : ''}`),
        };
      }),
    ],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
  };
}
