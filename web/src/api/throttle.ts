// Throttling of what new blocks trigger.

/** A function that runs `action` at once, but at most every `pause` milliseconds; the last call is never lost. */
export function throttle(pause: number, action: () => void): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  const run = () => {
    timer = undefined;
    last = performance.now();
    action();
  };
  const call = () => {
    if (timer !== undefined) return;
    const wait = last + pause - performance.now();
    if (wait <= 0) run();
    else timer = setTimeout(run, wait);
  };
  return { call, stop: () => clearTimeout(timer) };
}
