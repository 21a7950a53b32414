// A time as its age or in UTC, as the reader chose; the other one on hover.
import { absolute, relative } from '../format/time.ts';
import { nextTimeStyle, now, timeStyle } from '../state/view.ts';
import { Unknown } from './Unknown.tsx';

export function Time({ at, both }: { at: string | null | undefined; both?: boolean }) {
  if (!at) return <Unknown />;
  const age = relative(Date.parse(at), now.value);
  const utc = absolute(at);
  if (both) return <time dateTime={at}>{utc} <span class="quiet">({age})</span></time>;
  return timeStyle.value === 'age'
    ? <time dateTime={at} title={utc}>{age}</time>
    : <time dateTime={at} title={age}>{utc}</time>;
}

/** The head of a column of times, which changes how all times are shown. */
export function TimeHead() {
  const label = timeStyle.value === 'age' ? 'Age' : 'Time (UTC)';
  return <button type="button" class="plain" onClick={nextTimeStyle} title="Show the age, or the time in UTC">{label}</button>;
}
