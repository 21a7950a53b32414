// Limits of a page's speed. On a machine with busy cores any page is slow at times, so a page counts as slow only if each of several
// visits was: the best visit is compared with the limits.

export const LIMITS = {
  painted: [300, (value) => `the largest content was painted after ${value.toFixed(0)} ms`],
  longest: [100, (value) => `a task took ${value.toFixed(0)} ms`],
  shift: [0.05, (value) => `the layout moved by ${value.toFixed(3)}`],
};
const VISITS = 7;
/** Pause before the next measurement, in milliseconds; longer each time, to outlast other load. */
const PAUSE = 250;

const isOver = (measured) => Object.entries(LIMITS).some(([name, [limit]]) => measured[name] > limit);

/** The figures of the page that is open. */
export const figures = (page) => page.evaluate(() => ({ shift: globalThis.shift, longest: globalThis.longestTask, painted: globalThis.largestPaint }));

/** What is too slow on each of several visits, in words; `first` are the figures of the first visit. */
export async function slowness(page, first, visit) {
  const best = { ...first };
  for (let visits = 1; visits < VISITS && isOver(best); visits += 1) {
    await new Promise((done) => setTimeout(done, PAUSE * visits));
    await visit();
    const again = await figures(page);
    for (const name of Object.keys(LIMITS)) best[name] = Math.min(best[name], again[name]);
  }
  const over = Object.entries(LIMITS).filter(([name, [limit]]) => best[name] > limit);
  return over.map(([name, [limit, describe]]) => `${describe(best[name])} on the best of ${VISITS} visits, where ${limit} are allowed`);
}
