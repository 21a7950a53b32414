// Times in UTC, and how long ago they were.

/** `2024-02-17 08:49:36 UTC`, from the text of the API. */
export function absolute(time: string | number): string {
  const date = new Date(typeof time === 'number' ? time * 1000 : time);
  if (Number.isNaN(date.getTime())) return String(time);
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const STEPS: [number, string][] = [
  [60, 'second'], [60, 'minute'], [24, 'hour'], [365.25, 'day'], [Number.POSITIVE_INFINITY, 'year'],
];

/** `3 minutes`: so many milliseconds in their largest unit. */
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

/** `3 minutes ago`, or `in 2 hours`; both are milliseconds since 1970. */
export const relative = (time: number, now: number) => (time > now ? `in ${span(now - time)}` : `${span(now - time)} ago`);
