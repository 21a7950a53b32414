// Goes through the page of one of several chains and on to another: `node tests/browser/chains.mjs URL FIRST SECOND`. No link and no
// request may leave the chain, but for files of the page, and for the figures of the server.
import { end, monitoredPage, rest, start } from './browser.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
const [first, second] = process.argv.slice(3);
const problems = [];
let checked = 0;

const browser = await start();
const { page, monitor } = await monitoredPage(browser, origin);

/** The view shows the chain and nothing of another. */
async function check(chain, view) {
  if (!(await rest(page))) problems.push(`${view}: it never became idle`);
  const { links, selectedChain, early, failures } = await page.evaluate(() => ({
    links: [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href')),
    selectedChain: document.querySelector('select.chains')?.value,
    early: Object.keys(globalThis.trawlEarly ?? {}),
    failures: [...document.querySelectorAll('.failure')].map((one) => one.textContent),
  }));
  const isOwn = (path) => path.startsWith(`/${chain}/`) || path === `/${chain}`;
  const foreignLinks = links.filter((href) => href.startsWith('/') && (!isOwn(href) || href.startsWith(`/${chain}/${chain}`)) && href !== '/metrics');
  if (foreignLinks.length > 0) problems.push(`${view}: links that lead elsewhere: ${foreignLinks.slice(0, 5).join(' ')}`);
  const foreignRequests = monitor.requests.splice(0).filter((path) => !isOwn(path) && !path.startsWith('/_/'));
  if (foreignRequests.length > 0) problems.push(`${view}: foreign requests: ${foreignRequests.join(' ')}`);
  if (selectedChain !== chain) problems.push(`${view}: the switch says ${selectedChain}`);
  if (early.length > 0) problems.push(`${view}: preloaded but not used: ${early.join(' ')}`);
  if (failures.length > 0) problems.push(`${view}: ${failures.join(' ')}`);
  if (links.length < 10) problems.push(`${view}: ${links.length} links`);
  checked += 1;
}

const path = () => page.evaluate(() => location.pathname);
const arrivesAt = (prefix) => page.waitForFunction((start) => location.pathname.startsWith(start) && !document.querySelector('main[aria-busy=true]'), { timeout: 20_000 }, prefix).catch(async () => problems.push(`not at ${prefix} but at ${await path()}`));

/** Follows the first link of the page with this prefix. */
async function follow(start) {
  await page.evaluate((prefix) => document.querySelector(`main a[href^="${prefix}"]`)?.click(), start);
  await arrivesAt(start);
}

try {
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(origin, { waitUntil: 'load' });
  await arrivesAt(`/${first}`);
  // The redirect.
  monitor.requests.splice(0, 1);
  await check(first, 'home');
  await page.evaluate(() => { globalThis.isSameDocument = true; });
  await follow(`/${first}/block/`);
  await check(first, 'a block');
  await follow(`/${first}/tx/`);
  await check(first, 'a transaction');
  await follow(`/${first}/address/`);
  await check(first, 'an address');
  if (!(await page.evaluate(() => globalThis.isSameDocument === true))) problems.push('a link loaded the page anew');
  const address = (await path()).slice(`/${first}`.length);
  await page.select('select.chains', second);
  await arrivesAt(`/${second}${address}`);
  await check(second, 'the address on the other chain');
  await page.goto(`${origin}/${second}/transactions`, { waitUntil: 'load' });
  await arrivesAt(`/${second}/txs`);
  await check(second, 'a list by another name');
  await follow(`/${second}/tx/`);
  await check(second, 'a transaction after it');
  await page.goBack();
  await arrivesAt(`/${second}/txs`);
  await page.setViewport({ width: 360, height: 900 });
  if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) problems.push('it is wider than a small screen');
  await page.goto(`${origin}/${second}/docs`, { waitUntil: 'networkidle2' });
  const docs = await page.evaluate(() => [...document.querySelectorAll('nav a[href^="/"]')].map((link) => link.getAttribute('href')));
  if (docs.length < 5 || docs.some((href) => !href.startsWith(`/${second}/`))) problems.push(`the description leads to ${docs.join(' ')}`);
  if (!(await page.evaluate(() => document.querySelectorAll('#routes details').length > 50))) problems.push('the description has no routes');
  problems.push(...monitor.problems);
} finally {
  await end(browser);
}
for (const problem of problems) console.error(problem);
console.log(`${checked} views checked, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
