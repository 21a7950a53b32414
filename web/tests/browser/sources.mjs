// Sources of a contract that are hostile, large and many: they are shown as text, in few rows with colours, within the screen.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { rest } from './browser.mjs';
import { LIMITS } from './speed.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const MAIN = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;
/* <b>markup</b> <img src=x>
   two rows */
contract Token is Ownable {
    string public name = "Token </script><script>alert(1)</script>";
    address access = address(0); /*\u202e } \u2066if (isAdmin)\u2069 \u2066 begin admins only */
    function send(uint256 v\u0430lue) external { value += 1_000e18; } \u0000
}
`;
const BIG = 'src/big/Big.sol';
/** A line of 500,000 characters between 20,000 others: above 1 MB. */
const BIG_TEXT = `${'    uint256 public value = 1; // a line of code\n'.repeat(10_000)}bytes constant CODE = hex"${'60'.repeat(250_000)}";\n${'    return 7;\n'.repeat(10_000)}// the end`;
const MANY = Array.from({ length: 60 }, (_, index) => ({ file_path: `@lib/contracts/part${index % 6}/File${index}.sol`, source_code: `library File${index} {}\n` }));
const SOURCES = {
  is_verified: true, name: 'Token', language: 'solidity', file_path: 'src/Token.sol', source_code: MAIN, additional_sources: [{ file_path: BIG, source_code: BIG_TEXT }, { file_path: 'src/Settings.json', source_code: '{"a": [1, true]}' }, ...MANY],
  compiler_version: 'v0.8.19+commit.7dd6d404', compiler_settings: { optimizer: { enabled: true, runs: 200 }, remappings: ['@lib/=lib/\u202e'] }, evm_version: 'paris', optimization_enabled: true, optimization_runs: 200, license_type: 'mit',
  constructor_args: `0x${'00'.repeat(31)}07`, decoded_constructor_args: [['7', { name: 'supply', type: 'uint256' }]], external_libraries: [{ name: 'Math', address_hash: `0x${'ab'.repeat(20)}` }],
  verified_at: '2024-03-01T12:00:00.000000Z', is_fully_verified: false, is_partially_verified: true, is_verified_via_sourcify: true, abi: null,
};

/** Facts that the page has to state. */
const FACTS = { 'Contract name': 'Token', Language: 'Solidity', Compiler: 'v0.8.19+commit.7dd6d404', 'Optimization enabled': 'Yes, 200 runs', 'EVM version': 'paris', License: 'MIT', Match: 'Partial match: the metadata differs, by Sourcify' };
/** A browser draws what is near; this many rows with colours are enough for any screen. */
const MAX_ROWS = 400;

const read = (page) => page.evaluate(() => ({
  facts: Object.fromEntries([...document.querySelectorAll('.source .facts > div')].map((fact) => [fact.querySelector('dt').textContent, fact.querySelector('dd').textContent])),
  head: document.querySelector('.filehead h3')?.textContent,
  chosen: [...document.querySelectorAll('.line.chosen .number')].map((line) => line.textContent),
  rows: document.querySelectorAll('.code .line').length,
  text: document.querySelector('.code')?.textContent ?? '',
  kinds: [...new Set([...document.querySelectorAll('.code [class^=is-]')].map((token) => token.className))].sort(),
  marks: [...document.querySelectorAll('.code .mark')].map((mark) => mark.textContent),
  markup: document.querySelectorAll('main :is(b, img, script)').length,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  notes: [...document.querySelectorAll('.source [role=note]')].map((note) => note.textContent),
  focus: document.activeElement?.textContent ?? '',
  longest: globalThis.longestTask,
  shift: globalThis.shift,
  violations: globalThis.violations,
}));

/** Opens a contract with these sources in place of its own, in every width and colour scheme. */
export async function sources(page, origin) {
  const problems = [];
  const contract = await page.evaluate((url) => fetch(`${url}/api/v2/token-transfers?items_count=1`).then((answer) => answer.json()).then((answer) => answer.items[0].token.address_hash), origin);
  const own = await page.evaluate((path) => fetch(path).then((answer) => answer.json()), `${origin}/api/v2/smart-contracts/${contract}`);
  const respond = (request) => (request.url().endsWith(`/smart-contracts/${contract}`) ? request.respond({ contentType: 'application/json', body: JSON.stringify({ ...own, ...SOURCES }) }) : request.continue());
  await page.setRequestInterception(true);
  page.on('request', respond);
  const url = `${origin}/address/${contract}?tab=contract`;
  const open = async (query) => {
    await page.goto('about:blank');
    await page.goto(url + query, { waitUntil: 'load' });
    if (!(await rest(page))) problems.push(`${query}: it never became idle`);
    return read(page);
  };
  const expect = (problem, isSo, value) => { if (!isSo) problems.push(`${problem}: ${JSON.stringify(value).slice(0, 300)}`); };
  for (const [width, scheme] of [[1440, 'light'], [900, 'dark'], [360, 'dark']]) {
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    const main = await open('');
    expect(`${width} ${scheme}: wider than the screen`, main.wide <= 0, main.wide);
    expect(`${width} ${scheme}: the layout moved`, main.shift <= LIMITS.shift[0], main.shift);
    expect('a fact is missing', Object.entries(FACTS).every(([name, value]) => main.facts[name]?.startsWith(value)), main.facts);
    expect('the text is not whole', main.text.includes('</script><script>alert(1)</script>') && main.markup === 0, [main.markup, main.text]);
    expect('invisible characters are not shown', main.marks.includes('\\u202e') && main.marks.includes('\\u2066') && main.marks.includes('\\u0000') && main.notes.length === 1, main.marks);
    expect('colours are missing', ['comment', 'keyword', 'number', 'odd', 'string', 'type'].every((kind) => main.kinds.includes(`is-${kind}`)), main.kinds);
    expect('content security policy', main.violations.length === 0, main.violations);
    // Colours on chosen lines and on others.
    await open('&line=5-6');
    problems.push(...(await accessibility(page)).map((problem) => `${width} ${scheme}: ${problem}`));
  }
  await byLink(page, open, expect);
  await page.setViewport({ width: 1440, height: 900 });
  await byTree(page, open, expect);
  await largeFile(page, open, expect);
  page.off('request', respond);
  await page.setRequestInterception(false);
  await page.emulateMediaFeatures([]);
  return problems;
}

async function accessibility(page) {
  await page.evaluate(axe);
  return page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `axe ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`)));
}

/** A link leads to lines of a file, and to the main file if there is no such file. */
async function byLink(page, open, expect) {
  const linked = await open('&file=src%2FToken.sol&line=5-6');
  expect('a link chooses other lines', linked.chosen.join() === '5,6', linked.chosen);
  const far = await open(`&file=${encodeURIComponent(BIG)}&line=20001`);
  expect('a link to a far line leads elsewhere', far.head === BIG && far.chosen.join() === '20001' && far.wide <= 0, [far.head, far.chosen, far.wide]);
  expect('too many rows have colours', far.rows > 10 && far.rows < MAX_ROWS, far.rows);
  const unknown = await open('&file=%3Cb%3Enone&line=2');
  expect('a link to no file says nothing', unknown.head === 'src/Token.sol' && unknown.chosen.length === 0 && unknown.notes.some((note) => note.includes('no file "<b>none"')), unknown.notes);
  await open('');
  await page.click('.number[data-line="2"]');
  await page.keyboard.down('Shift');
  await page.click('.number[data-line="4"]');
  await page.keyboard.up('Shift');
  await page.reload({ waitUntil: 'load' });
  await rest(page);
  const reloaded = await read(page);
  expect('chosen lines are lost when the page is loaded again', reloaded.chosen.join() === '2,3,4', reloaded.chosen);
}

/** Through the tree by keys, and by the search for names. */
async function byTree(page, open, expect) {
  await open('');
  await page.focus('[role=treeitem][tabindex="0"]');
  const isMain = (await read(page)).focus;
  expect('the main file has not the focus', isMain.startsWith('Token.sol'), isMain);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowDown');
  const folder = (await read(page)).focus;
  expect('the arrows lead elsewhere', folder.includes('@lib/contracts'), folder);
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  await rest(page);
  const file = await read(page);
  expect('Enter opens another file', file.head === '@lib/contracts/part0/File0.sol' && file.focus === 'File0.sol', [file.head, file.focus]);
  await page.type('.filetree input', 'file59');
  const found = await page.$$eval('[role=treeitem]', (items) => items.map((item) => item.textContent));
  expect('the search finds other files', found.join() === '@lib/contracts/part5/File59.sol', found);
  await page.click('[role=treeitem]');
  await rest(page);
  const opened = (await read(page)).head;
  expect('a found file is not opened', opened === '@lib/contracts/part5/File59.sol', opened);
}

/** The browser finds a word in rows without colours; scrolling to the end is quick. */
async function largeFile(page, open, expect) {
  const start = await open(`&file=${encodeURIComponent(BIG)}`);
  expect('the whole file is not on the page', start.text.includes('// the end') && start.rows < MAX_ROWS, [start.text.length, start.rows]);
  const end = await page.evaluate(async () => {
    const box = document.querySelector('.code');
    for (let step = 0; step <= 40; step += 1) {
      box.scrollTop = (box.scrollHeight * step) / 40;
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
    }
    return { last: [...box.querySelectorAll('.number')].at(-1)?.textContent, rows: box.querySelectorAll('.line').length };
  });
  expect('the last line is not reached', end.last === '20002' && end.rows < MAX_ROWS, end);
  if (process.env['PRINT_TIMES']) console.log(`longest task: ${start.longest} ms when opened, ${(await read(page)).longest} ms when scrolled`);
}
