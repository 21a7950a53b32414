// What is made of columns and values as ClickHouse writes them as text.
import type { Series } from '../charts/Plot.tsx';
import type { Column } from './ask.ts';

/** A type without what says that it may be missing, or how it is stored. */
const bare = (type: string): string => /^(?:Nullable|LowCardinality)\((.*)\)$/.test(type) ? bare(type.replace(/^\w+\((.*)\)$/, '$1')) : type;

export const isNumber = (type: string): boolean => /^(U?Int|Float|Decimal|BFloat)/.test(bare(type));
export const isTime = (type: string): boolean => /^Date/.test(bare(type));
/** Bytes that are no text, such as hashes and addresses. */
export const isBytes = (type: string): boolean => /FixedString/.test(type);
export const isNull = (value: string): boolean => value === 'ᴺᵁᴸᴸ';

/** Seconds since 1970 of a time in UTC. */
function seconds(value: string): number {
  return Date.parse(`${value.slice(0, 10)}T${value.slice(11) || '00:00:00'}Z`) / 1000;
}

const numeral = (value: string | undefined): number | null => (value === undefined || isNull(value) || !Number.isFinite(Number(value)) ? null : Number(value));

export interface Drawing { x: number[]; axis: 'time' | 'height'; series: Series[] }

/** A chart of rows whose first column is a time or a block, and that have numbers; `null` of others. */
export function drawingOf(columns: Column[], rows: string[][]): Drawing | null {
  const [first] = columns;
  const numbers = columns.map((column, index) => ({ column, index })).filter(({ column, index }) => index > 0 && isNumber(column.type)).slice(0, 6);
  if (!first || numbers.length === 0 || rows.length < 2) return null;
  const axis = isTime(first.type) ? 'time' : isNumber(first.type) && /block|height|number/i.test(first.name) ? 'height' : null;
  if (!axis) return null;
  const at = (row: string[]) => (axis === 'time' ? seconds(row[0] ?? '') : Number(row[0]));
  const points = rows.map((row) => ({ at: at(row), row })).filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
  return { x: points.map((point) => point.at), axis, series: numbers.map(({ column, index }) => ({ name: column.name, values: points.map(({ row }) => numeral(row[index])) })) };
}
