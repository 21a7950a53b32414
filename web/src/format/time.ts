// Times in UTC, and how long ago they were.

/** `2024-02-17 08:49:36 UTC`, from a time of the API or from seconds since 1970. */
export function absolute(time: string | number): string {
  const date = new Date(typeof time === 'number' ? time * 1000 : time);
  if (Number.isNaN(date.getTime())) return String(time);
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const pad = (value: number) => String(value).padStart(2, '0');

/** `2024-02-17 09:49:36 +01:00`: the same in the time zone of the browser. */
export function local(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const ahead = -date.getTimezoneOffset();
  const zone = `${ahead < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(ahead) / 60))}:${pad(Math.abs(ahead) % 60)}`;
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())} ${zone}`;
}

const STEPS: [number, string][] = [
  [60, 'second'], [60, 'minute'], [24, 'hour'], [365.25, 'day'], [Number.POSITIVE_INFINITY, 'year'],
];

/** `3 minutes`: milliseconds in their largest unit. */
export function span(milliseconds: number): string {
  let rest = Math.abs(milliseconds) / 1000;
  for (const [length, name] of STEPS) {
    if (rest < length) {
      const whole = Math.floor(rest);
      return `${whole} ${name}${whole === 1 ? '' : 's'}`;
    }
    rest /= length;
  }
  return '';
}

/** `3 minutes ago`, `just now`, or `in 2 hours`; both are milliseconds since 1970. */
export function relative(time: number, now: number): string {
  // The clock of the page may be some seconds old, and clocks of nodes some seconds ahead.
  if (Math.abs(now - time) < CLOCKS) return 'just now';
  return time > now ? `in ${span(now - time)}` : `${span(now - time)} ago`;
}

/** The age of a recent time, and the date of one that is older than 30 days, whose age says little. */
export function ageOrDate(time: string, now: number): string {
  const milliseconds = Date.parse(time);
  return now - milliseconds > 30 * 86_400_000 ? absolute(time).slice(0, 10) : relative(milliseconds, now);
}

/** Genesis blocks of many chains have the time 0, which is none. */
export const isNone = (time: string): boolean => Date.parse(time) === 0;

const CLOCKS = 6000;
