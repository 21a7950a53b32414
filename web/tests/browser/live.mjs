// Keeps the home page open while blocks come and go, and checks it: `node tests/browser/live.mjs URL`. It reads one command a line and
// answers each with a line. `shows HASH`: this block must become the newest without a reload. `behind WORDS`: the status page must report
// a lag behind the node that starts with these words. `lost`: the page must report a lost connection, and a list that the API cannot be
// reached. `back`: the list must return by itself. `alarm WORDS`: a list must show these words, a problem of following. `rest HASH` and
// `stands HASH`: with the pointer on the list of blocks, this one stays the first when another one arrives.
import { createInterface } from 'node:readline';
import { end, monitoredPage, start } from './browser.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
/** Longer than the page waits before it tries again. */
const PATIENCE = 30_000;

const browser = await start();
const { page, monitor } = await monitoredPage(browser, origin);
await page.goto(origin, { waitUntil: 'networkidle2' });
await page.evaluate(() => { globalThis.isSameDocument = true; });

const holds = (condition, ...values) => page.waitForFunction(condition, { timeout: PATIENCE, polling: 50 }, ...values).then(() => true, () => false);
const text = () => page.evaluate(() => document.body.innerText.slice(0, 1500));
const showsText = (expected) => holds((text) => document.body.innerText.includes(text), expected);
const followLink = (href) => page.evaluate((target) => document.querySelector(`a[href="${target}"]`)?.click(), href);

const COMMANDS = {
  async shows(hash) {
    const isNewest = await holds((expected) => document.querySelector('.feedlist.tall [data-row]')?.dataset['row'] === expected, hash);
    if (!isNewest) return `block ${hash} does not come first: ${await text()}`;
    // The rest of the list is of the same branch, and the transactions beside it are.
    const hashes = await page.evaluate(async () => {
      const [blocks, transactions] = await Promise.all(['blocks', 'transactions'].map((what) => fetch(`/api/v2/main-page/${what}`).then((answer) => answer.json())));
      return [blocks.map((block) => block.hash), transactions.map((item) => item.hash)];
    });
    const isSame = await holds((expected) => {
      const rows = [...document.querySelectorAll('.feedlist')].map((list) => [...list.querySelectorAll('[data-row]')].map((row) => row.dataset['row']));
      return JSON.stringify(rows) === expected && document.querySelector('.failure') === null;
    }, JSON.stringify(hashes));
    if (!isSame) return `other rows than the API gives: ${await text()}`;
    return (await page.evaluate(() => globalThis.isSameDocument === true)) ? 'ok' : 'the page was loaded anew';
  },
  /** The pointer rests on the list, whose newest block is this one. */
  async rest(hash) {
    await page.hover('.feedlist.tall [data-row] .quiet');
    return (await page.evaluate(() => document.querySelector('.feedlist.tall [data-row]')?.dataset['row'])) === hash ? 'ok' : `another block comes first: ${await text()}`;
  },
  /** Another block has arrived: the list is marked as paused and does not change until the pointer leaves it. */
  async stands(hash) {
    const isPaused = await holds(() => document.querySelector('.halves [role=status]')?.textContent.startsWith('paused'));
    const first = await page.evaluate(() => document.querySelector('.feedlist.tall [data-row]')?.dataset['row']);
    await page.mouse.move(2, 2);
    return isPaused && first === hash ? 'ok' : `${isPaused ? '' : 'nothing says that it is paused; '}${first} comes first`;
  },
  async behind(...words) {
    await followLink('/status');
    const isShown = await holds((expected) => [...document.querySelectorAll('.facts > div')].some((fact) => fact.querySelector('dt').textContent === 'Behind the node' && fact.querySelector('dd').innerText.replace(/\s+/g, ' ').startsWith(expected)), words.join(' '));
    if (!isShown) return `the status page does not say how far it is behind its node: ${await text()}`;
    await followLink('/');
    return (await holds(() => document.querySelector('.feed.live') !== null)) ? 'ok' : `the page is not live again: ${await text()}`;
  },
  async alarm(...words) {
    await followLink('/blocks');
    // The page requests the health of the chain when it becomes visible again.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    const isShown = await holds((expected) => document.querySelector('.alarm')?.textContent.includes(expected) && document.querySelector('.pulse.late') !== null, words.join(' '));
    return isShown ? 'ok' : `nothing says what is wrong: ${await page.evaluate(() => document.querySelector('.alarm')?.textContent ?? 'no line')}`;
  },
  /** The page of a block stays open. */
  async opens(height) {
    await followLink(`/block/${height}`);
    return (await holds((expected) => document.querySelector('main h1')?.textContent.includes(expected) && document.querySelector('.facts') !== null, height)) ? 'ok' : `the block does not open: ${await text()}`;
  },
  /** This block was on the open page, and is not in the chain any more. */
  async replaced(hash) {
    const isSaid = async () => {
      // The page requests the health of the chain when it becomes visible again.
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      return holds((expected) => document.querySelector('[role=status].failure')?.textContent.includes(expected), hash);
    };
    if (!(await isSaid())) return `the page does not say that its block was replaced: ${await text()}`;
    await page.evaluate(() => { history.pushState(null, '', '/blocks?type=reorg'); dispatchEvent(new PopStateEvent('popstate')); });
    const hasDepth = await holds(() => [...document.querySelectorAll('table.list td[data-name=Depth]')].some((cell) => cell.innerText.trim() === '6'));
    await page.evaluate(() => { history.pushState(null, '', '/'); dispatchEvent(new PopStateEvent('popstate')); });
    return hasDepth ? 'ok' : `no reorganisation of depth 6 is listed: ${await text()}`;
  },
  async lost() {
    monitor.isOffline = true;
    if (!(await showsText('connection lost'))) return `nothing says that the connection is lost: ${await text()}`;
    await followLink('/blocks');
    return (await showsText('cannot be reached')) ? 'ok' : `nothing says that the API is away: ${await text()}`;
  },
  async back() {
    const hasRows = await holds(() => document.querySelectorAll('table.list tbody tr').length > 3 && document.querySelector('.failure') === null);
    if (!hasRows) return `the list did not come back: ${await text()}`;
    monitor.isOffline = false;
    await followLink('/');
    return (await holds(() => document.querySelector('.feed.live') !== null)) ? 'ok' : `the page is not live again: ${await text()}`;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...values] = line.trim().split(' ');
  const answer = await COMMANDS[name](...values);
  console.log((answer === 'ok' ? monitor.problems.splice(0)[0] ?? 'ok' : answer).replaceAll('\n', ' / '));
}
await end(browser);
