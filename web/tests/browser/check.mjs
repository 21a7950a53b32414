// Opens every page of an explorer in Chromium and fails on any violation: `node tests/browser/check.mjs URL [0 | 1 | both]
// [tours | 1/3]`. Each page is opened wide and light as well as narrow and dark; with a parity of 0 or 1, in one of the two, in turns.
// Parity 0 opens half of the pages; parity 1, over another explorer, opens all and checks accessibility (axe) on the other half. Each
// parity takes half of the tours. Parallel runs take a part each: the tours, or every third page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { end, monitoredPage, rest, start } from './browser.mjs';
import { byKeys, everyFocus } from './keys.mjs';
import { routesOf } from './routes.mjs';
import { phoneLists } from './phone.mjs';
import { sources } from './sources.mjs';
import { figures, LIMITS } from './speed.mjs';
import { keyboard, warnings, names, offline } from './tours.mjs';
import { bigTrees } from './trees.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const problems = [];
let checked = 0;
const [parity = 'both', part = '1/1'] = process.argv.slice(3);
const [number, parts] = part.split('/').map(Number);
const isTours = part === 'tours';
const LOOKS = [[1440, 'light'], [360, 'dark']];

const browser = await start();
try {
  const { page, monitor } = await monitoredPage(browser, origin);
  const routes = isTours ? [] : await routesOf(origin);
  for (const [index, [name, path, text]] of routes.entries()) {
    if (index % parts !== number - 1) continue;
    // By its name, which is the same on both explorers: their lists of pages differ.
    const sum = [...name].reduce((all, letter) => all + letter.charCodeAt(0), 0);
    const isOfHalf = parity === 'both' || sum % 2 === Number(parity);
    if (parity === '0' && !isOfHalf) continue;
    const looks = parity === 'both' ? LOOKS : [LOOKS[((sum >> 1) + Number(parity)) % 2]];
    for (const [width, scheme] of looks) await check(page, monitor, { name, path, text, width, scheme, hasAxe: isOfHalf });
  }
  const tours = [keyboard, byKeys, everyFocus, names, warnings, bigTrees, sources, offline, phoneLists];
  // Tours ask the explorer for what is on its first page.
  if (isTours) await page.goto(origin, { waitUntil: 'load' });
  for (const [index, tour] of isTours || parts === 1 ? tours.entries() : []) {
    if (parity !== 'both' && index % 2 !== Number(parity)) continue;
    problems.push(...(await tour(page, origin, monitor)).map((problem) => `${tour.name}: ${problem}`), ...monitor.problems.splice(0));
    checked += 1;
  }
} finally {
  await end(browser);
}
for (const problem of problems) console.error(problem);
console.log(`${checked} views checked, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);

/** Waits until the page shows a text, which may stand in a field. */
function shows(page, text) {
  return page.waitForFunction((expected) => document.body.innerText.toLowerCase().includes(expected.toLowerCase()), { timeout: 20_000 }, text).then(() => true, () => false);
}

async function check(page, monitor, { name, path, text, width, scheme, hasAxe }) {
  const report = (problem) => problems.push(`${name} ${width} ${scheme} (${path}): ${problem}`);
  // Late requests of the previous page do not count for this one.
  await page.goto('about:blank');
  monitor.problems.length = 0;
  monitor.requests.length = 0;
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(origin + path, { waitUntil: 'load', timeout: 30_000 });
  if (!(await rest(page))) report('it never became idle');
  if (!(await shows(page, text))) report(`"${text}" is not shown`);
  const state = await page.evaluate(() => ({
    text: document.body.innerText,
    markup: (document.getElementById('app') ?? document.querySelector('main')).querySelectorAll('b, iframe, img, script').length,
    violations: globalThis.violations,
    // A page that failed uses no preloads.
    early: document.querySelector('.failure') ? [] : Object.keys(globalThis.trawlEarly ?? {}),
    title: document.title,
  }));
  const first = await figures(page);
  for (const more of [width, ...(width > 1000 ? [900, 1130] : [])]) {
    if (more !== width) await page.setViewport({ width: more, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) report(`at ${more} px it is wider than the screen by ${wide} px`);
  }
  if (/\bundefined\b|\bNaN\b|\[object /.test(state.text)) report(`unfinished text: ${/.{0,40}(undefined|NaN|\[object ).{0,40}/.exec(state.text)?.[0]}`);
  if (state.markup > 0) report('names became markup');
  if (state.violations.length > 0) report(`content security policy: ${state.violations.join(', ')}`);
  if (state.early.length > 0) report(`preloaded but not used: ${state.early.join(', ')}`);
  if (!state.title.includes('Trawl')) report(`title "${state.title}"`);
  const duplicates = monitor.requests.filter((request, index) => request.startsWith('/api/') && monitor.requests.indexOf(request) !== index);
  if (duplicates.length > 0) report(`requested twice: ${duplicates.join(', ')}`);
  if (hasAxe) await page.evaluate(axe);
  const violations = !hasAxe ? [] : await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`)));
  for (const finding of violations) report(`axe ${finding}`);
  // Times depend on what else the machine does: `quick.mjs` measures them.
  const [most, describe] = LIMITS.shift;
  if (first.shift > most) report(describe(first.shift));
  problems.push(...monitor.problems.splice(0).map((problem) => `${name}: ${problem}`));
  checked += 1;
}
