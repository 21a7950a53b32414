// Objects of periods and names as the series of a chart.
import type { Series } from './Plot.tsx';

export interface Period { date: string; date_to: string; is_complete: boolean }

/** The values of each period, a series for each of the greatest names and one for the sum of the others. A period without a name has 0 of it. */
export function seriesOf<T extends Period>(items: T[], name: (item: T) => string, value: (item: T) => number, most: number): { x: number[]; series: Series[] } {
  const totals = new Map<string, number>();
  const byDate = new Map<string, Map<string, number>>();
  for (const item of items) {
    const [key, count] = [name(item), value(item)];
    totals.set(key, (totals.get(key) ?? 0) + count);
    const counts = byDate.get(item.date) ?? new Map<string, number>();
    counts.set(key, (counts.get(key) ?? 0) + count);
    byDate.set(item.date, counts);
  }
  const dates = [...byDate.keys()].toSorted();
  const names = [...totals].toSorted((a, b) => b[1] - a[1]).map(([key]) => key);
  const shown = names.length > most ? names.slice(0, most - 1) : names;
  const others = names.slice(shown.length);
  const of = (date: string, key: string) => byDate.get(date)?.get(key) ?? 0;
  const series: Series[] = shown.map((key) => ({ name: key, values: dates.map((date) => of(date, key)) }));
  if (others.length > 0) series.push({ name: `${others.length} others`, values: dates.map((date) => others.reduce((sum, key) => sum + of(date, key), 0)) });
  return { x: dates.map((date) => Date.parse(`${date}T00:00:00Z`) / 1000), series };
}

/** `Transfer` of `Transfer(address,…)`, else the beginning of a hash. */
export const shortSignature = (signature: string | null, hash: string | null, none: string) => signature?.split('(')[0] ?? (hash === null ? none : hash.length > 10 ? `${hash.slice(0, 10)}…` : hash);

/** How many days charts go back that read every transaction. */
const DAYS_BACK: Record<string, number> = { DAY: 13, WEEK: 27, MONTH: 364 };

/** The first day that they ask for, given the newest block's time; `null` for all. */
export function beginOf(period: string, newest: string): string | null {
  const days = DAYS_BACK[period];
  return days === undefined ? null : new Date(Math.max(Date.parse(newest) - days * 86_400_000, 0)).toISOString().slice(0, 10);
}
