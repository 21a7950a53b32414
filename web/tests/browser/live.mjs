// Keeps the home page open while blocks come and go, and says what it shows: `node tests/browser/live.mjs URL`. Each line that it
// reads is a command, which it answers with a line: `shows HASH`, the newest block that must appear without a reload; `behind WORDS`,
// how the status page must begin to say how far the chain is behind its node; `lost`, the connection must be said to be lost, and a
// list to be out of reach; `back`, the list must come by itself; `alarm WORDS`, a list must say that and what is wrong with following;
// `rest HASH` and `stands HASH`, with the pointer on the list of blocks the newest of them stays so when another one comes.
import { createInterface } from 'node:readline';
import { end, start, watchedPage } from './browser.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
/** Longer than the page waits before it tries again. */
const PATIENCE = 30_000;

const browser = await start();
const { page, seen } = await watchedPage(browser, origin);
await page.goto(origin, { waitUntil: 'networkidle2' });
await page.evaluate(() => { globalThis.isKept = true; });

const holds = (condition, ...values) => page.waitForFunction(condition, { timeout: PATIENCE, polling: 50 }, ...values).then(() => true, () => false);
const text = () => page.evaluate(() => document.body.innerText.slice(0, 1500));
const says = (wanted) => holds((text) => document.body.innerText.includes(text), wanted);
const follows = (href) => page.evaluate((target) => document.querySelector(`a[href="${target}"]`)?.click(), href);

const COMMANDS = {
  async shows(hash) {
    const isNewest = await holds((wanted) => document.querySelector('.feedlist.tall [data-row]')?.dataset['row'] === wanted, hash);
    if (!isNewest) return `block ${hash} does not come first: ${await text()}`;
    // The rest of the list is of the same branch, and the transactions beside it are.
    const told = await page.evaluate(async () => {
      const [blocks, transactions] = await Promise.all(['blocks', 'transactions'].map((what) => fetch(`/api/v2/main-page/${what}`).then((answer) => answer.json())));
      return [blocks.map((block) => block.hash), transactions.map((item) => item.hash)];
    });
    const isSame = await holds((wanted) => {
      const rows = [...document.querySelectorAll('.feedlist')].map((list) => [...list.querySelectorAll('[data-row]')].map((row) => row.dataset['row']));
      return JSON.stringify(rows) === wanted && document.querySelector('.failure') === null;
    }, JSON.stringify(told));
    if (!isSame) return `other rows than the API gives: ${await text()}`;
    return (await page.evaluate(() => globalThis.isKept === true)) ? 'ok' : 'the page was loaded anew';
  },
  /** The pointer rests on the list, whose newest block is this one. */
  async rest(hash) {
    await page.hover('.feedlist.tall [data-row] .quiet');
    return (await page.evaluate(() => document.querySelector('.feedlist.tall [data-row]')?.dataset['row'])) === hash ? 'ok' : `another block comes first: ${await text()}`;
  },
  /** Another block has come, which is said, and the list is as it was until the pointer leaves it. */
  async stands(hash) {
    const isSaid = await holds(() => document.querySelector('.halves [role=status]')?.textContent.startsWith('paused'));
    const first = await page.evaluate(() => document.querySelector('.feedlist.tall [data-row]')?.dataset['row']);
    await page.mouse.move(2, 2);
    return isSaid && first === hash ? 'ok' : `${isSaid ? '' : 'nothing says that it is paused; '}${first} comes first`;
  },
  async behind(...words) {
    await follows('/status');
    const says = await holds((wanted) => [...document.querySelectorAll('.facts > div')].some((fact) => fact.querySelector('dt').textContent === 'Behind the node' && fact.querySelector('dd').innerText.replace(/\s+/g, ' ').startsWith(wanted)), words.join(' '));
    if (!says) return `the status page does not say how far it is behind its node: ${await text()}`;
    await follows('/');
    return (await holds(() => document.querySelector('.feed.live') !== null)) ? 'ok' : `the page is not live again: ${await text()}`;
  },
  async alarm(...words) {
    await follows('/blocks');
    // It is asked how the chain is when somebody looks at the page again.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    const says = await holds((wanted) => document.querySelector('.alarm')?.textContent.includes(wanted) && document.querySelector('.pulse.late') !== null, words.join(' '));
    return says ? 'ok' : `nothing says what is wrong: ${await page.evaluate(() => document.querySelector('.alarm')?.textContent ?? 'no line')}`;
  },
  async lost() {
    seen.isAway = true;
    if (!(await says('connection lost'))) return `nothing says that the connection is lost: ${await text()}`;
    await follows('/blocks');
    return (await says('cannot be reached')) ? 'ok' : `nothing says that the API is away: ${await text()}`;
  },
  async back() {
    const hasRows = await holds(() => document.querySelectorAll('table.list tbody tr').length > 3 && document.querySelector('.failure') === null);
    if (!hasRows) return `the list did not come back: ${await text()}`;
    seen.isAway = false;
    await follows('/');
    return (await holds(() => document.querySelector('.feed.live') !== null)) ? 'ok' : `the page is not live again: ${await text()}`;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...values] = line.trim().split(' ');
  const answer = await COMMANDS[name](...values);
  console.log((answer === 'ok' ? seen.problems.splice(0)[0] ?? 'ok' : answer).replaceAll('\n', ' / '));
}
await end(browser);
