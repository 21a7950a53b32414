// Opens every page of an explorer in Chromium and fails on what is always slow: `node tests/browser/quick.mjs URL`, on an idle machine.
import { end, monitoredPage, rest, start } from './browser.mjs';
import { routesOf } from './routes.mjs';
import { figures, slowness } from './speed.mjs';
import { bigTrees } from './trees.mjs';

/** The longest task of a tree of 3,001 calls, in milliseconds. */
const MAX_TASK = 100;

const origin = new URL(process.argv[2] ?? '').origin;
const problems = [];
let measured = 0;

const browser = await start();
try {
  const { page } = await monitoredPage(browser, origin);
  await page.setViewport({ width: 1440, height: 900 });
  for (const [name, path] of await routesOf(origin)) {
    const visit = async () => {
      await page.goto(origin + path, { waitUntil: 'load', timeout: 30_000 });
      if (!(await rest(page))) problems.push(`${name} (${path}): it never became idle`);
    };
    await visit();
    const first = await figures(page);
    console.log(`${name}: painted ${first.painted.toFixed(0)} ms, shift ${first.shift.toFixed(3)}, longest task ${first.longest.toFixed(0)} ms`);
    problems.push(...(await slowness(page, first, visit)).map((slow) => `${name} (${path}): ${slow}`));
    measured += 1;
  }
  problems.push(...(await bigTrees(page, origin, null, MAX_TASK)).map((problem) => `big trees: ${problem}`));
} finally {
  await end(browser);
}
for (const problem of problems) console.error(problem);
console.log(`${measured} pages measured, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
