// Series of charts, from items by period and name.
import type { Series } from './Plot.tsx';

export interface Period { date: string; date_to: string; is_complete: boolean }
export interface LoadedDays { date: string; date_to: string }

/** Every period from the first to the last. `isLoaded` says whether a period without an item is empty; otherwise it is not known. */
interface Calendar { x: number[]; dates: string[]; isLoaded: (date: string) => boolean }

const DAY = 86_400_000;
/** The most points that are filled in: some fifty years of days. */
const MAX_POINTS = 20_000;

/** The first day of the next period. */
function next(date: string, period: string): string {
  const at = new Date(`${date}T00:00:00Z`);
  // The week of the first days of 1970 began before them.
  const days = period === 'WEEK' ? 7 - ((at.getUTCDay() + 6) % 7) : 1;
  const then = period === 'MONTH' ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) : period === 'YEAR' ? Date.UTC(at.getUTCFullYear() + 1, 0) : at.getTime() + days * DAY;
  return new Date(then).toISOString().slice(0, 10);
}

const seconds = (date: string) => Date.parse(`${date}T00:00:00Z`) / 1000;

/** The periods of items, those between them, and later ones whose blocks are all loaded. */
export function calendarOf(items: { date: string }[], loaded: LoadedDays[], period: string): Calendar {
  const itemDates = [...new Set(items.map((item) => item.date))].toSorted();
  const isLoaded = (date: string) => loaded.some((range) => range.date <= date && date <= range.date_to);
  const until = [itemDates.at(-1) ?? '', loaded.at(-1)?.date_to ?? ''].toSorted().at(-1) ?? '';
  const dates: string[] = [];
  for (let date = itemDates[0]; date !== undefined && date <= until && dates.length < MAX_POINTS; date = next(date, period)) dates.push(date);
  const shownDates = dates.length < MAX_POINTS ? dates : itemDates;
  return { x: shownDates.map(seconds), dates: shownDates, isLoaded };
}

/** A value per period. A period without an item is 0 if its blocks are loaded, and a gap otherwise. */
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

/** The series with gaps in place of periods without an item, for shares and prices. */
export const withGaps = (series: Series, calendar: Calendar, items: { date: string }[]): Series => {
  const own = new Set(items.map((item) => item.date));
  return { ...series, values: series.values.map((value, index) => (own.has(calendar.dates[index] ?? '') ? value : null)) };
};

/** Values per period: a series for each of the names with the greatest totals, and one for the sum of the others. A period with items is 0 for names it lacks. */
export function seriesOf<T extends Period>(calendar: Calendar, items: T[], name: (item: T) => string, value: (item: T) => number, maxSeries: number): Series[] {
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
  const shown = names.length > maxSeries ? names.slice(0, maxSeries - 1) : names;
  const others = names.slice(shown.length);
  const of = (date: string, keys: string[]) => {
    const counts = byDate.get(date);
    return counts || calendar.isLoaded(date) ? keys.reduce((sum, key) => sum + (counts?.get(key) ?? 0), 0) : null;
  };
  const series: Series[] = shown.map((key) => ({ name: key, values: calendar.dates.map((date) => of(date, [key])) }));
  if (others.length > 0) series.push({ name: `${others.length} others`, values: calendar.dates.map((date) => of(date, others)) });
  return series;
}

/** `Transfer` for `Transfer(address,…)`, else the first digits of a hash. */
export const shortSignature = (signature: string | null, hash: string | null, none: string) => signature?.split('(')[0] ?? (hash === null ? none : hash.length > 10 ? `${hash.slice(0, 10)}…` : hash);

/** How many days charts go back whose queries read every transaction. */
const DAYS_BACK: Record<string, number> = { DAY: 13, WEEK: 27, MONTH: 364 };

/** The first day of such a chart, by the time of the newest block; `null` for all days. */
export function beginOf(period: string, newest: string): string | null {
  const days = DAYS_BACK[period];
  return days === undefined ? null : new Date(Math.max(Date.parse(newest) - days * 86_400_000, 0)).toISOString().slice(0, 10);
}

/** Whether there are few enough points for bars, which show empty days. */
export const isFew = (x: number[]) => x.length < 60;

/** A note on incomplete periods: the last one may still grow, others lack blocks. */
export function partOf(items: Period[]): string {
  const periods = [...new Map(items.map((item) => [item.date, item])).values()];
  const last = periods.at(-1);
  const partial = periods.filter((period) => period !== last && !period.is_complete).length;
  const grows = last?.is_complete === false ? ` The last point, ${last.date}, may still grow.` : '';
  return grows + (partial === 0 ? '' : ` Of ${partial} of ${periods.length} points not all blocks are loaded.`);
}
