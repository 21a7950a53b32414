// Doing something when it is announced, and not more often than it helps a reader.

/** A function that acts at once, and when it is called again soon only after `pause` milliseconds; the last call is never lost. */
export function seldom(pause: number, act: () => void): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  const now = () => {
    timer = undefined;
    last = performance.now();
    act();
  };
  const call = () => {
    if (timer !== undefined) return;
    const wait = last + pause - performance.now();
    if (wait <= 0) now();
    else timer = setTimeout(now, wait);
  };
  return { call, stop: () => clearTimeout(timer) };
}
