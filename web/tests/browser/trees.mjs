// Trees of calls that are wider and deeper than those of any bundled transaction: they render as few rows, within the screen.
import { rest } from './browser.mjs';

const WIDE = 3000;
const DEEP = 300;
/** Most rows at once before any scrolling. */
const MAX_ROWS = 160;

/** The longest task in milliseconds while other tests run beside: only what blocks a page is found. `quick.mjs` sets the limit of an idle machine. */
const MAX_TASK = 600;

function frame(traceAddress, number) {
  const data = `0xa9059cbb${number.toString(16).padStart(64, '0')}${(number + 1).toString(16).padStart(64, '0')}`;
  const action = { callType: 'call', from: `0x${'aa'.repeat(20)}`, to: `0x${'bb'.repeat(20)}`, gas: '0xffff', input: data, value: '0x0' };
  return { type: 'call', action, result: { gasUsed: '0x5208', output: '0x' }, subtraces: 0, traceAddress };
}

/** What the API would answer with these frames. */
function answerOf(frames) {
  const parameters = [{ name: 'to', type: 'address', value: `0x${'cc'.repeat(20)}` }, { name: 'value', type: 'uint256', value: '7' }];
  const read = { method: 'transfer', input: { method_call: 'transfer(address to, uint256 value)', method_id: '0xa9059cbb', parameters }, output: null };
  return JSON.stringify({ frames, decoded: frames.map(() => read), addresses: [], tokens: [] });
}

const wide = answerOf([frame([], 0), ...Array.from({ length: WIDE }, (_, index) => frame([index], index))]);
const deep = answerOf(Array.from({ length: DEEP }, (_, depth) => frame(Array(depth).fill(0), depth)));

/** Opens the calls of a transaction with this answer in place of its own, and runs `act` there. */
async function withCalls(page, url, answer, act) {
  const answerCalls = (request) => (request.url().endsWith('/calls') ? request.respond({ contentType: 'application/json', body: answer }) : request.continue());
  await page.setRequestInterception(true);
  page.on('request', answerCalls);
  await page.goto(url, { waitUntil: 'load' });
  await rest(page);
  await act();
  page.off('request', answerCalls);
  await page.setRequestInterception(false);
}

const count = (page) => page.evaluate(() => ({
  rows: document.querySelectorAll('.tree > .call').length,
  text: document.querySelector('.tree').innerText.slice(0, 3000),
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  longest: globalThis.longestTask,
}));
const press = (page, text) => page.evaluate((label) => [...document.querySelectorAll('main button')].find((button) => button.textContent.includes(label))?.click(), text);

/** 3,001 calls are few rows, and few elements when they are unfolded; 300 levels stay on a narrow screen. */
export async function bigTrees(page, origin, _monitor, most = MAX_TASK) {
  const problems = [];
  const hash = await page.evaluate((url) => fetch(`${url}/api/v2/main-page/transactions`).then((answer) => answer.json()).then((items) => items[0].hash), origin);
  const url = `${origin}/tx/${hash}?tab=trace`;
  await page.setViewport({ width: 1280, height: 900 });
  await withCalls(page, url, wide, async () => {
    const folded = await count(page);
    if (folded.rows !== 3 || !folded.text.includes('× 3,000')) problems.push(`a run of calls is ${folded.rows} rows: ${folded.text.slice(0, 200)}`);
    await press(page, 'unfold 2,999 more');
    await rest(page);
    const unfolded = await count(page);
    if (unfolded.rows < 10 || unfolded.rows > MAX_ROWS) problems.push(`${unfolded.rows} rows of 3,001 calls are there`);
    // The page grows as rows come.
    const isAtEnd = () => {
      scrollTo(0, document.body.scrollHeight);
      const last = document.querySelector('.tree').lastElementChild;
      return last.matches('.call') && last.getBoundingClientRect().bottom > 0;
    };
    if (!(await page.waitForFunction(isAtEnd, { timeout: 20_000, polling: 100 }).then(() => true, () => false))) problems.push('the last of 3,001 calls is not reached');
    const longest = Math.max(folded.longest, unfolded.longest, (await count(page)).longest);
    if (longest > most) problems.push(`3,001 calls: a task of ${Math.round(longest)} ms`);
  });
  await page.setViewport({ width: 360, height: 800 });
  await withCalls(page, url, deep, async () => {
    await press(page, 'Unfold all');
    await rest(page);
    const levels = await count(page);
    if (levels.rows < 20 || levels.rows > MAX_ROWS) problems.push(`${levels.rows} rows of 300 levels are there`);
    if (levels.wide > 0) problems.push(`300 levels are wider than the screen by ${levels.wide} px`);
  });
  return problems;
}
