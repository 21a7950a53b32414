// Holds what pages show against facts that come from elsewhere: `node tests/browser/facts.mjs URL`, with the facts as JSON on its
// standard input: pages by path, and what each must say (see tests/it/web_page/facts.rs).
import { readFileSync } from 'node:fs';
import { end, rest, start, watchedPage } from './browser.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
const pages = JSON.parse(readFileSync(0, 'utf8'));
const problems = [];
let compared = 0;

/** Pages side by side: each waits for most of its time until nothing changes any more. */
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

/** Opens the first of them, and goes on by links as people do. */
async function compareAll(some) {
  const { page, seen } = await watchedPage(browser, origin);
  await page.setViewport({ width: 1440, height: 900 });
  for (const [index, wanted] of some.entries()) {
    if (index === 0) await page.goto(origin + wanted.path, { waitUntil: 'domcontentloaded', timeout: 30_000 });
    else await page.evaluate(follow, wanted.path);
    if (!(await rest(page))) problems.push(`${wanted.path}: it never came to rest`);
    compare(wanted, await page.evaluate(shown));
    if (wanted.hidden) await compareHidden(page, wanted);
    if (wanted.proof) await compareProof(page, wanted);
    problems.push(...seen.problems.splice(0).map((problem) => `${wanted.path}: ${problem}`));
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

function expectOn(path, what, isSame, has) {
  compared += 1;
  if (!isSame) problems.push(`${path}: ${what}: ${JSON.stringify(has)}`);
}

/** Rows that are hidden once one wants it, which is said, and shown again without it. */
async function compareHidden(page, { path, hidden }) {
  const rows = () => page.evaluate(() => document.querySelectorAll('table.list tbody tr').length);
  const before = await rows();
  await page.click('label.check input');
  const said = await page.waitForSelector('p[role=note]', { timeout: 20_000 }).then((note) => note.evaluate((element) => element.innerText), () => null);
  expectOn(path, `it does not say "${hidden}"`, said?.startsWith(hidden), said);
  expectOn(path, 'not so many rows are gone', (await rows()) === before - Number.parseInt(said, 10), before);
  await page.click('label.check input');
  await page.evaluate(() => localStorage.clear());
}

/** The proof of a receipt, checked by the page. */
async function compareProof(page, { path, proof }) {
  await page.evaluate(() => [...document.querySelectorAll('main button')].find((button) => button.textContent === 'Check in this browser')?.click());
  const said = await page.waitForSelector('main p[role=status]', { timeout: 20_000 }).then((note) => note.evaluate((element) => element.innerText), () => null);
  expectOn(path, `it does not say "${proof}"`, said?.startsWith(proof), said);
}

/** What a page says, as text, tooltips and links. Runs in the page. */
function shown() {
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

function compare(wanted, found) {
  const expect = (what, isSame, has) => expectOn(wanted.path, what, isSame, has);
  const isEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  if (wanted.heading) expect(`the heading is not "${wanted.heading}"`, found.heading === wanted.heading, found.heading);
  for (const [name, fact] of Object.entries(wanted.facts ?? {})) {
    const has = found.facts[name];
    if (fact.text !== undefined) expect(`${name} is not ${fact.text}`, has?.text === fact.text || has?.text.startsWith(`${fact.text} `), has);
    if (fact.title !== undefined) expect(`${name} is not ${JSON.stringify(fact.title)}`, has?.titles[0] === fact.title, has);
    if (fact.link !== undefined) expect(`${name} is not ${fact.link}`, has?.links[0] === fact.link.toLowerCase(), has);
    if (fact.time !== undefined) {
      const time = new Date(fact.time * 1000).toISOString();
      expect(`${name} is not ${time}`, has?.text.startsWith(`${time.slice(0, 10)} ${time.slice(11, 19)} UTC `), has);
    }
  }
  if (wanted.tab) expect(`${wanted.tab[0]} does not count ${wanted.tab[1]}`, found.tabs[wanted.tab[0]] === wanted.tab[1], found.tabs);
  if (wanted.rows !== undefined) expect(`there are not ${wanted.rows} rows`, found.rows === wanted.rows, found.rows);
  if (wanted.cards !== undefined) expect(`there are not ${wanted.cards} logs`, found.cards === wanted.cards, found.cards);
  for (const [index, link] of (wanted.links ?? []).entries()) expect(`row ${index} is not ${link}`, found.links[index] === link, found.links[index]);
  if (wanted.payer) expect('the sender is not the first whose balance changed', found.changes[0] === wanted.payer, found.changes);
  if (wanted.payer) expect('an address is there twice', new Set(found.changes).size === found.changes.length, found.changes);
  for (const [label, rows] of Object.entries(wanted.cells ?? {})) expect(`${label} are not ${JSON.stringify(rows)}`, isEqual(found.cells[label]?.map((row) => row.slice(0, rows[0]?.length)), rows), found.cells[label]);
  if (wanted.gaps) expect(`the gaps are not ${JSON.stringify(wanted.gaps)}`, isEqual(found.gaps, wanted.gaps), found.gaps);
  if (wanted.readings) expect(`the functions to read are not ${JSON.stringify(wanted.readings)}`, isEqual(found.readings, wanted.readings), found.readings);
  if (wanted.slots !== undefined) expect(`there are not ${wanted.slots} slots`, found.slots === wanted.slots, found.slots);
  if (wanted.failure) expect(`it does not say "${wanted.failure}"`, found.failure.startsWith(wanted.failure), found.failure);
  if (wanted.reasons) expect(`the calls do not say ${wanted.reasons}`, isEqual(found.reasons.slice(0, wanted.reasons.length), wanted.reasons), found.reasons);
  if (wanted.marks) expect(`the marks are not ${wanted.marks}`, isEqual(found.marks, wanted.marks), found.marks);
  for (const [index, { account, delegate, is_valid: isValid }] of (wanted.delegations ?? []).entries()) {
    const has = found.delegations[index];
    const isNamed = [account, delegate].every((address) => address === null || has?.links.includes(address));
    expect(`delegation ${index} of ${account} to ${delegate} is not ${isValid ? 'valid' : 'void'}`, isNamed && (isValid ? / valid$/ : / void: /).test(has?.text), has);
  }
  if (wanted.delegations) expect('there are others', found.delegations.length === wanted.delegations.length, found.delegations);
}
