// The period of charts, which is in the URL of the page.
import { useLocation } from 'preact-iso';
import { withQuery } from '../parts/list/query.ts';

const PERIODS = ['DAY', 'WEEK', 'MONTH', 'YEAR'];

export function usePeriod(): string {
  const { query } = useLocation();
  const resolution = query['resolution'] ?? '';
  return PERIODS.includes(resolution) ? resolution : 'DAY';
}

export function PeriodChoice() {
  const { path, query } = useLocation();
  const period = usePeriod();
  return <span class="choice">{PERIODS.map((one) => <a key={one} href={withQuery(path, query, { resolution: one === 'DAY' ? undefined : one })} aria-current={one === period ? 'true' : undefined}>{one.toLowerCase()}</a>)}</span>;
}
