// Types and values of columns as ClickHouse writes them as text, and charts of them.
import type { Series } from '../charts/Plot.tsx';
import type { Column } from './client.ts';

/** A type without Nullable and LowCardinality. */
const bare = (type: string): string => /^(?:Nullable|LowCardinality)\((.*)\)$/.test(type) ? bare(type.replace(/^\w+\((.*)\)$/, '$1')) : type;

export const isNumber = (type: string): boolean => /^(U?Int|Float|Decimal|BFloat)/.test(bare(type));
export const isTime = (type: string): boolean => /^Date/.test(bare(type));
/** Binary values, such as hashes and addresses. */
export const isBytes = (type: string): boolean => /FixedString/.test(type);
export const isNull = (value: string): boolean => value === 'ᴺᵁᴸᴸ';

/** Seconds since 1970 of a time in UTC. */
function seconds(value: string): number {
  return Date.parse(`${value.slice(0, 10)}T${value.slice(11) || '00:00:00'}Z`) / 1000;
}

const numeral = (value: string | undefined): number | null => (value === undefined || isNull(value) || !Number.isFinite(Number(value)) ? null : Number(value));

interface ChartData { x: number[]; axis: 'time' | 'height'; series: Series[] }

/** The chart of rows that have numbers and whose first column is a time or a block; otherwise `null`. */
export function chartOf(columns: Column[], rows: string[][]): ChartData | null {
  const [first] = columns;
  const numbers = columns.map((column, index) => ({ column, index })).filter(({ column, index }) => index > 0 && isNumber(column.type)).slice(0, 6);
  if (!first || numbers.length === 0 || rows.length < 2) return null;
  const axis = isTime(first.type) ? 'time' : isNumber(first.type) && /block|height|number/i.test(first.name) ? 'height' : null;
  if (!axis) return null;
  const at = (row: string[]) => (axis === 'time' ? seconds(row[0] ?? '') : Number(row[0]));
  const points = rows.map((row) => ({ at: at(row), row })).filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
  return { x: points.map((point) => point.at), axis, series: numbers.map(({ column, index }) => ({ name: column.name, values: points.map(({ row }) => numeral(row[index])) })) };
}
