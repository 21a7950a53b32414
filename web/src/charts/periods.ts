// Objects of periods and names as the series of a chart.
import type { Series } from './Plot.tsx';

export interface Period { date: string; date_to: string; is_complete: boolean }
export interface LoadedDays { date: string; date_to: string }

/** Every period from the first to the last, and whether it is known that nothing happened where there is no object of it. */
export interface Calendar { x: number[]; dates: string[]; isLoaded: (date: string) => boolean }

const DAY = 86_400_000;
/** More points than this are not filled in: some fifty years of days. */
const MOST_POINTS = 20_000;

/** The first day of the period after that of a day. */
function next(date: string, period: string): string {
  const at = new Date(`${date}T00:00:00Z`);
  // The week of the first days of 1970 began before them.
  const days = period === 'WEEK' ? 7 - ((at.getUTCDay() + 6) % 7) : 1;
  const then = period === 'MONTH' ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) : period === 'YEAR' ? Date.UTC(at.getUTCFullYear() + 1, 0) : at.getTime() + days * DAY;
  return new Date(then).toISOString().slice(0, 10);
}

const seconds = (date: string) => Date.parse(`${date}T00:00:00Z`) / 1000;

/** The periods of objects, with those between them, and those after them of which all blocks are loaded. */
export function calendarOf(items: { date: string }[], loaded: LoadedDays[], period: string): Calendar {
  const own = [...new Set(items.map((item) => item.date))].toSorted();
  const isLoaded = (date: string) => loaded.some((range) => range.date <= date && date <= range.date_to);
  const until = [own.at(-1) ?? '', loaded.at(-1)?.date_to ?? ''].toSorted().at(-1) ?? '';
  const dates: string[] = [];
  for (let date = own[0]; date !== undefined && date <= until && dates.length < MOST_POINTS; date = next(date, period)) dates.push(date);
  const known = dates.length < MOST_POINTS ? dates : own;
  return { x: known.map(seconds), dates: known, isLoaded };
}

/** A value of each period: of those without an object 0 where nothing happened, and a gap where that is not known. */
export function lineOf<T extends { date: string }>(calendar: Calendar, items: T[], name: string, value: (item: T) => number | null): Series {
  const byDate = new Map(items.map((item) => [item.date, item]));
  return {
    name,
    values: calendar.dates.map((date) => {
      const item = byDate.get(date);
      return item ? value(item) : calendar.isLoaded(date) ? 0 : null;
    }),
  };
}

/** The same of values that are shares or prices: where nothing happened there is none. */
export const withGaps = (series: Series, calendar: Calendar, items: { date: string }[]): Series => {
  const own = new Set(items.map((item) => item.date));
  return { ...series, values: series.values.map((value, index) => (own.has(calendar.dates[index] ?? '') ? value : null)) };
};

/** The values of each period, a series for each of the greatest names and one for the sum of the others. A period with objects has 0 of the names that it has none of. */
export function seriesOf<T extends Period>(calendar: Calendar, items: T[], name: (item: T) => string, value: (item: T) => number, most: number): Series[] {
  const totals = new Map<string, number>();
  const byDate = new Map<string, Map<string, number>>();
  for (const item of items) {
    const [key, count] = [name(item), value(item)];
    totals.set(key, (totals.get(key) ?? 0) + count);
    const counts = byDate.get(item.date) ?? new Map<string, number>();
    counts.set(key, (counts.get(key) ?? 0) + count);
    byDate.set(item.date, counts);
  }
  const names = [...totals].toSorted((a, b) => b[1] - a[1]).map(([key]) => key);
  const shown = names.length > most ? names.slice(0, most - 1) : names;
  const others = names.slice(shown.length);
  const of = (date: string, keys: string[]) => {
    const counts = byDate.get(date);
    return counts || calendar.isLoaded(date) ? keys.reduce((sum, key) => sum + (counts?.get(key) ?? 0), 0) : null;
  };
  const series: Series[] = shown.map((key) => ({ name: key, values: calendar.dates.map((date) => of(date, [key])) }));
  if (others.length > 0) series.push({ name: `${others.length} others`, values: calendar.dates.map((date) => of(date, others)) });
  return series;
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

/** Few points are bars, which show days without anything as such. */
export const isFew = (x: number[]) => x.length < 60;

/** What is not whole: the last period may still grow, and of others blocks are missing. */
export function partOf(items: Period[]): string {
  const periods = [...new Map(items.map((item) => [item.date, item])).values()];
  const last = periods.at(-1);
  const partial = periods.filter((period) => period !== last && !period.is_complete).length;
  const grows = last?.is_complete === false ? ` The last point, ${last.date}, may still grow.` : '';
  return grows + (partial === 0 ? '' : ` Of ${partial} of ${periods.length} points not all blocks are loaded.`);
}
