// A time as its age, in UTC or in local time, as the reader chose; the others on hover.
import { absolute, ageOrDate, isNone, local, relative } from '../format/time.ts';
import { nextTimeStyle, now, timeStyle } from '../state/view.ts';
import { Unknown } from './Unknown.tsx';

export function Time({ at, both }: { at: string | null | undefined; both?: boolean }) {
  if (!at) return <Unknown />;
  if (isNone(at)) return <time dateTime={at} class="quiet" title={`${absolute(at)}\nThe header has the time 0, as those of genesis blocks do`}>{both ? <>{absolute(at)} <span>(none)</span></> : 'none'}</time>;
  const age = relative(Date.parse(at), now.value);
  const utc = absolute(at);
  const style = timeStyle.value;
  if (both) return <time dateTime={at} title={style === 'local' ? utc : local(at)}>{style === 'local' ? local(at) : utc} <span class="quiet">({age})</span></time>;
  if (style === 'age') return <time dateTime={at} title={`${age}\n${utc}\n${local(at)}`}>{ageOrDate(at, now.value)}</time>;
  return <time dateTime={at} title={`${age}\n${style === 'local' ? utc : local(at)}`}>{style === 'local' ? local(at) : utc}</time>;
}

/** The head of a column of times, which switches the style of all times. */
export function TimeHead() {
  const label = { age: 'Age', utc: 'Time (UTC)', local: 'Time (local)' }[timeStyle.value];
  return <button type="button" class="plain" onClick={nextTimeStyle} title="Switches between ages, UTC and local times">{label}</button>;
}
