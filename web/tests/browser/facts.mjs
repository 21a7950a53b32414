// Compares what pages show with facts from another source: `node tests/browser/facts.mjs URL`, with the facts as JSON on its standard
// input: pages by path, and what each must show (see tests/it/web_page/facts.rs).
import { readFileSync } from 'node:fs';
import { end, monitoredPage, rest, start } from './browser.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
const pages = JSON.parse(readFileSync(0, 'utf8'));
const problems = [];
let compared = 0;

/** Pages in parallel: each spends most of its time waiting. */
const TABS = 3;

const browser = await start();
try {
  await Promise.all(Array.from({ length: TABS }, (_, tab) => compareAll(pages.filter((_, index) => index % TABS === tab))));
} finally {
  await end(browser);
}
for (const problem of problems.slice(0, 60)) console.error(problem);
console.log(`${compared} facts on ${pages.length} pages compared, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);

/** Opens the first page, and follows links to the others, as users do. */
async function compareAll(batch) {
  const { page, monitor } = await monitoredPage(browser, origin);
  await page.setViewport({ width: 1440, height: 900 });
  for (const [index, expected] of batch.entries()) {
    if (index === 0) await page.goto(origin + expected.path, { waitUntil: 'domcontentloaded', timeout: 30_000 });
    else await page.evaluate(follow, expected.path);
    if (!(await rest(page))) problems.push(`${expected.path}: it never became idle`);
    if (expected.hidden) await showHidden(page, expected);
    compare(expected, await page.evaluate(readPage));
    if (expected.hidden) await compareHidden(page, expected);
    if (expected.proof) await compareProof(page, expected);
    problems.push(...monitor.problems.splice(0).map((problem) => `${expected.path}: ${problem}`));
  }
  await page.close();
}

/** Follows a link to a page, as if it stood on this one. Runs in the page. */
function follow(path) {
  const link = document.createElement('a');
  link.href = path;
  document.body.append(link);
  link.click();
  link.remove();
}

function expectOn(path, problem, isSame, value) {
  compared += 1;
  if (!isSame) problems.push(`${path}: ${problem}: ${JSON.stringify(value)}`);
}

/** Rows are hidden at first; the check box shows them. */
async function showHidden(page, { path, hidden }) {
  const text = await page.evaluate(() => document.querySelector('p[role=note]')?.innerText);
  expectOn(path, `it does not say "${hidden}" at first`, text?.startsWith(hidden), text);
  await page.click('label.check input');
  await page.waitForFunction(() => !document.querySelector('p[role=note]'), { timeout: 20_000 });
}

/** Rows that the check box hides: a note has their number. */
async function compareHidden(page, { path, hidden }) {
  const rows = () => page.evaluate(() => document.querySelectorAll('table.list tbody tr').length);
  const before = await rows();
  await page.click('label.check input');
  const text = await page.waitForSelector('p[role=note]', { timeout: 20_000 }).then((note) => note.evaluate((element) => element.innerText), () => null);
  expectOn(path, `it does not say "${hidden}"`, text?.startsWith(hidden), text);
  expectOn(path, 'not so many rows are gone', (await rows()) === before - Number.parseInt(text, 10), before);
  await page.evaluate(() => localStorage.clear());
}

/** The proof of a receipt, checked by the page. */
async function compareProof(page, { path, proof }) {
  await page.evaluate(() => [...document.querySelectorAll('main button')].find((button) => button.textContent === 'Check in this browser')?.click());
  const text = await page.waitForSelector('main p[role=status]', { timeout: 20_000 }).then((note) => note.evaluate((element) => element.innerText), () => null);
  expectOn(path, `it does not say "${proof}"`, text?.startsWith(proof), text);
}

/** What a page says, as text, tooltips and links. Runs in the page. */
function readPage() {
  const text = (element) => element.innerText.replace(/\s+/g, ' ').trim();
  const facts = [...document.querySelectorAll('.facts > div')].map((fact) => [text(fact.querySelector('dt')), {
    text: text(fact.querySelector('dd')),
    titles: [...fact.querySelectorAll('dd .amount[title]')].map((amount) => amount.title),
    links: [...fact.querySelectorAll('dd [data-address]')].map((link) => link.dataset.address),
  }]);
  const heading = document.querySelector('main h1').cloneNode(true);
  for (const button of heading.querySelectorAll('.button')) button.remove();
  return {
    heading: heading.textContent.replace(/\s+/g, ' ').trim(),
    facts: Object.fromEntries(facts),
    tabs: Object.fromEntries([...document.querySelectorAll('nav.tabs a')].map((tab) => [tab.firstChild.textContent, tab.querySelector('.count')?.textContent])),
    rows: document.querySelectorAll('table.list tbody tr').length,
    cards: document.querySelectorAll('.card').length,
    failure: text(document.querySelector('.failure') ?? heading),
    reasons: [...document.querySelectorAll('p.bad, p.reason')].map(text),
    marks: [...document.querySelectorAll('.suspect')].map((mark) => [mark.querySelector('a').dataset.address, mark.querySelector('[role=img]').title]),
    delegations: [...document.querySelectorAll('.facts dd .stack > .row')].map((row) => ({ text: text(row), links: [...row.querySelectorAll('[data-address]')].map((link) => link.dataset.address) })),
    changes: [...document.querySelectorAll('table[aria-label="Net balance changes"] tbody tr')].map((row) => row.querySelector('[data-address]').dataset.address),
    cells: Object.fromEntries([...document.querySelectorAll('table.list')].map((table) => [table.getAttribute('aria-label'), [...table.querySelectorAll('tbody tr')].map((row) => [...row.querySelectorAll('td')].map(text))])),
    readings: [...document.querySelectorAll('.panel:has(> .reading)')].map((panel) => [text(panel.querySelector('h2')), [...panel.querySelectorAll('.reading strong')].map(text)]),
    gaps: [...document.querySelectorAll('tr.gap')].map(text),
    slots: document.querySelectorAll('table[aria-label^="Slots of storage"] tbody tr').length,
    links: [...document.querySelectorAll('table.list tbody tr')].map((row) => row.querySelector('a[href^="/tx/"]')?.getAttribute('href')),
  };
}

function compare(expected, actual) {
  const expect = (problem, isSame, value) => expectOn(expected.path, problem, isSame, value);
  const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  if (expected.heading) expect(`the heading is not "${expected.heading}"`, actual.heading === expected.heading, actual.heading);
  for (const [name, fact] of Object.entries(expected.facts ?? {})) {
    const value = actual.facts[name];
    if (fact.text !== undefined) expect(`${name} is not ${fact.text}`, value?.text === fact.text || value?.text.startsWith(`${fact.text} `), value);
    if (fact.title !== undefined) expect(`${name} is not ${JSON.stringify(fact.title)}`, value?.titles[0] === fact.title, value);
    if (fact.link !== undefined) expect(`${name} is not ${fact.link}`, value?.links[0] === fact.link.toLowerCase(), value);
    if (fact.time !== undefined) {
      const time = new Date(fact.time * 1000).toISOString();
      expect(`${name} is not ${time}`, value?.text.startsWith(`${time.slice(0, 10)} ${time.slice(11, 19)} UTC `), value);
    }
  }
  if (expected.tab) expect(`${expected.tab[0]} does not count ${expected.tab[1]}`, actual.tabs[expected.tab[0]] === expected.tab[1], actual.tabs);
  if (expected.rows !== undefined) expect(`there are not ${expected.rows} rows`, actual.rows === expected.rows, actual.rows);
  if (expected.cards !== undefined) expect(`there are not ${expected.cards} logs`, actual.cards === expected.cards, actual.cards);
  for (const [index, link] of (expected.links ?? []).entries()) expect(`row ${index} is not ${link}`, actual.links[index] === link, actual.links[index]);
  if (expected.payer) expect('the sender is not the first whose balance changed', actual.changes[0] === expected.payer, actual.changes);
  if (expected.payer) expect('an address is there twice', new Set(actual.changes).size === actual.changes.length, actual.changes);
  for (const [label, rows] of Object.entries(expected.cells ?? {})) expect(`${label} are not ${JSON.stringify(rows)}`, isEqual(actual.cells[label]?.map((row) => row.slice(0, rows[0]?.length)), rows), actual.cells[label]);
  if (expected.gaps) expect(`the gaps are not ${JSON.stringify(expected.gaps)}`, isEqual(actual.gaps, expected.gaps), actual.gaps);
  if (expected.readings) expect(`the functions to read are not ${JSON.stringify(expected.readings)}`, isEqual(actual.readings, expected.readings), actual.readings);
  if (expected.slots !== undefined) expect(`there are not ${expected.slots} slots`, actual.slots === expected.slots, actual.slots);
  if (expected.failure) expect(`it does not say "${expected.failure}"`, actual.failure.startsWith(expected.failure), actual.failure);
  if (expected.reasons) expect(`the calls do not say ${expected.reasons}`, isEqual(actual.reasons.slice(0, expected.reasons.length), expected.reasons), actual.reasons);
  if (expected.marks) expect(`the marks are not ${expected.marks}`, isEqual(actual.marks, expected.marks), actual.marks);
  for (const [index, { account, delegate, is_valid: isValid }] of (expected.delegations ?? []).entries()) {
    const value = actual.delegations[index];
    const isNamed = [account, delegate].every((address) => address === null || value?.links.includes(address));
    expect(`delegation ${index} of ${account} to ${delegate} is not ${isValid ? 'valid' : 'void'}`, isNamed && (isValid ? / valid$/ : / void: /).test(value?.text), value);
  }
  if (expected.delegations) expect('there are others', actual.delegations.length === expected.delegations.length, actual.delegations);
}
