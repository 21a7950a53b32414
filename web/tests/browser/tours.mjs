// Ways through the page that need more than opening it.

import { rest } from './browser.mjs';

const path = (page) => page.evaluate(() => location.pathname + location.search);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
/** Whether the page reaches a path and has loaded: until then the previous page stays, with its rows. */
const arrivesAt = (page, start) => page.waitForFunction((prefix) => location.pathname.startsWith(prefix) && !document.querySelector('main[aria-busy=true], main .loading'), { timeout: 20_000 }, start).then(() => true, () => false);

/** Withholds the script of a page until the returned function is called. */
async function holdScript(page, name) {
  const requests = [];
  const hold = (request) => (request.url().includes(name) ? requests.push(request) : request.continue());
  await page.setRequestInterception(true);
  page.on('request', hold);
  return async () => {
    page.off('request', hold);
    await Promise.all(requests.map((request) => request.continue()));
    await page.setRequestInterception(false);
  };
}

/** From the home page to a block, through its rows, back and on, without a pointer. */
export async function keyboard(page, origin) {
  const problems = [];
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(origin, { waitUntil: 'networkidle2' });
  const height = await page.evaluate(() => fetch('/api/v2/main-page/blocks').then((answer) => answer.json()).then((blocks) => blocks[0].height));
  const release = await holdScript(page, '/Block-');
  await page.keyboard.press('/');
  await page.keyboard.type(String(height));
  await page.keyboard.press('Enter');
  if (!(await page.waitForSelector('main[aria-busy=true] [data-row]', { timeout: 20_000 }).then(() => true, () => false))) problems.push('nothing says that the next page is awaited');
  await release();
  if (!(await arrivesAt(page, `/block/${height}`))) problems.push(`the search led to ${await path(page)}`);
  await page.waitForSelector('[data-row] a', { timeout: 20_000 });
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  if (!(await page.evaluate(() => document.activeElement?.closest('[data-row]') !== null))) problems.push('no row has the focus');
  await page.keyboard.press('Enter');
  if (!(await arrivesAt(page, '/tx/'))) problems.push(`a row led to ${await path(page)}`);
  await page.goBack();
  if (!(await arrivesAt(page, `/block/${height}`))) problems.push(`the way back led to ${await path(page)}`);
  const before = await page.evaluate(() => document.documentElement.dataset['theme']);
  await page.keyboard.press('t');
  await wait(100);
  const after = await page.evaluate(() => document.documentElement.dataset['theme']);
  if (before === after) problems.push('t did not change the theme');
  await page.evaluate(() => localStorage.clear());
  return problems;
}

/** A name of one's own appears on other pages, and stays after a reload. */
export async function names(page, origin) {
  const problems = [];
  const address = await page.evaluate(() => fetch('/api/v2/main-page/transactions').then((answer) => answer.json()).then((items) => items[0].from.hash));
  const name = '<i>mine</i> \u202e ok';
  await page.goto(`${origin}/address/${address}`, { waitUntil: 'networkidle2' });
  await page.evaluate(() => [...document.querySelectorAll('button')].find((button) => button.textContent === 'Add private name')?.click());
  await page.waitForSelector('input[name=name]', { timeout: 20_000 });
  await page.type('input[name=name]', name);
  await page.keyboard.press('Enter');
  await page.goto(`${origin}/`, { waitUntil: 'networkidle2' });
  const label = await page.evaluate(() => document.querySelector('.name.mine')?.textContent ?? '');
  if (label !== '<i>mine</i> \\u202e ok') problems.push(`the name is shown as ${JSON.stringify(label)}`);
  await page.evaluate(() => localStorage.clear());
  return problems;
}

/** The API becomes unreachable while the page is open, which reports it, and comes back. */
export async function offline(page, origin, monitor) {
  const problems = [];
  await page.goto(origin, { waitUntil: 'networkidle2' });
  monitor.isOffline = true;
  await page.setOfflineMode(true);
  await page.evaluate(() => document.querySelector('header.top nav a[href="/blocks"]')?.click());
  const showsText = (text) => page.waitForFunction((expected) => document.body.innerText.includes(expected), { timeout: 20_000 }, text).then(() => true, () => false);
  if (!(await showsText('cannot be reached'))) problems.push('nothing says that the API is away');
  // A page whose script was not there yet.
  await page.evaluate(() => document.querySelector('header.top nav a[href="/status"]')?.click());
  await wait(500);
  await page.setOfflineMode(false);
  if (!(await page.waitForFunction(() => document.querySelector('main h1')?.textContent === 'Status', { timeout: 20_000 }).then(() => true, () => false))) problems.push('a page whose script could not be loaded did not come');
  await page.goBack();
  if (!(await page.waitForSelector('table.list tbody tr', { timeout: 20_000 }).then(() => true, () => false))) problems.push('the list did not come back');
  monitor.isOffline = false;
  return problems;
}

/** Names and symbols of a token, and the warning that the page shows. */
const NAMES = [
  ['Visit claim-usdc.xyz', 'CLAIM', 'Caution. Its name contains a web address: do not visit it.'],
  ['Plain\u200b', 'PLN', 'Caution. Its name has invisible characters.'],
  ['A dollar', 'U\u0405DC', 'Caution. Its name mixes letters of several scripts that look alike.'],
  ['USD Coin', 'USDC', 'Caution. It has the symbol of the well-known USDC, but is another contract.'],
  ['<b>Plain</b>', 'PLN', null],
];

/** Tokens that imitate others, and addresses with a wrong checksum, get a warning; others do not. */
export async function warnings(page, origin) {
  const problems = [];
  const token = await page.evaluate(async (url) => {
    const { items } = await fetch(`${url}/api/v2/token-transfers?items_count=100`).then((answer) => answer.json());
    const chain = await fetch(`${url}/rpc`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}' }).then((answer) => answer.json());
    // One that no list has: those of the lists are never marked.
    const known = await fetch(`${url}/assets/tokens/eip155-${Number(chain.result)}.json`).then((answer) => answer.json());
    const hash = items.map((item) => item.token.address_hash).find((address) => !known.tokens.some((token) => token.address.toLowerCase() === address.toLowerCase()));
    return fetch(`${url}/api/v2/tokens/${hash}`).then((answer) => answer.json());
  }, origin);
  let answer = token;
  const respond = (request) => (request.url().endsWith(`/api/v2/tokens/${token.address_hash}`) ? request.respond({ contentType: 'application/json', body: JSON.stringify(answer) }) : request.continue());
  const note = () => page.evaluate(() => document.querySelector('main .failure')?.innerText.replace(/\s+/g, ' ') ?? null);
  await page.setRequestInterception(true);
  page.on('request', respond);
  for (const [name, symbol, caution] of NAMES) {
    answer = { ...token, name, symbol };
    await page.goto(`${origin}/token/${token.address_hash}`, { waitUntil: 'load' });
    await rest(page);
    if ((await note()) !== caution) problems.push(`of ${JSON.stringify(symbol)} it says ${JSON.stringify(await note())}`);
    if (await page.$('main b')) problems.push('a name became markup');
  }
  page.off('request', respond);
  await page.setRequestInterception(false);
  // One letter in the other case: the checksum is wrong.
  const wrong = token.address_hash.replace(/[a-f](?=[^a-f]*$)|[A-F](?=[^A-F]*$)/, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));
  for (const [address, isWrong] of [[token.address_hash, false], [wrong, true]]) {
    await page.goto(`${origin}/address/${address}`, { waitUntil: 'load' });
    await rest(page);
    const hasWarning = await page.evaluate(() => [...document.querySelectorAll('main [role=note]')].some((one) => one.textContent.includes('EIP-55')));
    if (hasWarning !== isWrong) problems.push(`${address}: ${hasWarning ? 'a note says' : 'no note says'} that its checksum is wrong`);
  }
  return problems;
}
