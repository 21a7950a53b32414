// Goes through the SQL page of an explorer with a console: `node tests/browser/sql.mjs URL USER PASSWORD`, over a chain that is loaded.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { end, monitoredPage, rest, start } from './browser.mjs';

const [, , url, user, password] = process.argv;
const origin = new URL(url).origin;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const problems = [];
let checked = 0;
const browser = await start();
const { page, monitor } = await monitoredPage(browser, origin);

const press = (name) => page.evaluate((label) => [...document.querySelectorAll('main button')].find((button) => button.textContent === label)?.click(), name);
const type = (statement) => page.$eval('textarea.statement', (field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }, statement);
const shows = (text) => page.waitForFunction((expected) => document.querySelector('main')?.innerText.includes(expected), { timeout: 20_000 }, text).then(() => true, () => false);
const text = () => page.evaluate(() => document.querySelector('main').innerText);

async function expect(step, expected) {
  checked += 1;
  if (!(await shows(expected))) problems.push(`${step}: "${expected}" is not shown: ${(await text()).slice(0, 600)}`);
}

function ensure(problem, condition) {
  checked += 1;
  if (!condition) problems.push(problem);
}

async function logIn(secret) {
  await page.waitForSelector('input[name=user]', { timeout: 20_000 });
  for (const [name, value] of [['user', user], ['password', secret]]) await page.$eval(`input[name=${name}]`, (field, text) => { field.value = text; }, value);
  await press('Log in');
}

/** Runs by keyboard. */
async function run(statement) {
  await type(statement);
  await page.focus('textarea.statement');
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
}

/** Nothing serious for axe, nothing beside the screen, in both schemes. */
async function checkLayout(view) {
  for (const [width, scheme] of [[1440, 'light'], [360, 'dark']]) {
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(axe);
    const violations = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`)));
    for (const finding of violations) problems.push(`${view} ${width}: axe ${finding}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    ensure(`${view}: at ${width} px it is wider than the screen by ${wide} px`, wide <= 0);
  }
  await page.setViewport({ width: 1440, height: 900 });
}

try {
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(`${origin}/sql`, { waitUntil: 'load' });
  await expect('without an account', 'Log in to the database');
  await checkLayout('the login');
  await logIn('wrong');
  await expect('a wrong password', 'Wrong user or password');
  await logIn(password);
  await expect('the limits', 'may run 60 s, use');
  await expect('the schema', 'v_blocks');
  ensure('a view is not the first of the tables', await page.$eval('.tables li', (one) => one.innerText.includes('v_')));
  await run('SELECT block_number, transactions_count, \'<b>x</b>\' AS name, NULL AS nothing FROM v_blocks ORDER BY block_number LIMIT 7');
  await expect('the rows', '7 rows in all');
  await expect('the cost', 'read');
  const cells = await page.$$eval('.sheet tbody tr:nth-child(2) td', (all) => all.map((one) => one.textContent));
  ensure(`a row is ${JSON.stringify(cells)}`, cells[0] === '1' && cells[2] === '<b>x</b>' && cells[3] === 'NULL');
  ensure('there is no chart of blocks', (await page.$('#chart-sql .plot')) !== null);
  ensure('the address has no statement', decodeURIComponent(await page.evaluate(() => location.hash)).startsWith('#SELECT block_number'));
  await checkLayout('rows');
  await press('Estimate');
  await expect('the estimate', 'Reads at most');
  await run('SELECT no_such_column FROM v_blocks');
  ensure('what another statement reads is still there', !(await text()).includes('Reads at most'));
  await expect('an error', 'UNKNOWN_IDENTIFIER');
  await run('SELECT throwIf(number = 3000000, \'too far\') AS a FROM numbers(5000000) WHERE a > 0 OR number < 5');
  await expect('an error in the middle', 'too far');
  await run('SELECT number FROM numbers(100000)');
  await expect('more rows than are shown', 'There are more rows.');
  ensure('the cap is not 10,000', (await text()).includes('10,000 rows received'));
  await run('SELECT sleepEachRow(1) FROM numbers(50) SETTINGS max_block_size = 1');
  await expect('a long one', 'rows so far');
  await page.keyboard.press('Escape');
  await expect('a stopped one', 'The statement was stopped');
  // Files, which the page gives to the browser as blobs.
  await page.evaluate(() => { globalThis.blobs = []; URL.createObjectURL = (blob) => { globalThis.blobs.push(blob); return '#'; }; HTMLAnchorElement.prototype.click = () => {}; });
  await type('SELECT 1 AS a, \'x,y\' AS b');
  await press('CSV');
  await page.waitForFunction(() => globalThis.blobs.length === 1, { timeout: 20_000 });
  const csv = await page.evaluate(() => globalThis.blobs[0].text());
  ensure(`the file is ${csv}`, csv === '"a","b"\n1,"x,y"\n');
  await type('SELECT throwIf(number = 3000000, \'too far\') AS a FROM numbers(5000000)');
  await press('CSV');
  await expect('a file that fails', 'there is no file');
  ensure('half a file was given', await page.evaluate(() => globalThis.blobs.length === 1));
  // By click: a name goes into the statement.
  await type('');
  await page.evaluate(() => [...document.querySelectorAll('.tables .plain')].find((one) => one.textContent === 'v_blocks')?.click());
  ensure('a click inserts no name', await page.$eval('textarea.statement', (field) => field.value === 'v_blocks'));
  await expect('the log', 'Your statements');
  const isPasswordStored = await page.evaluate((secret) => [JSON.stringify(localStorage), location.href].some((one) => one.includes(secret) || one.includes('Basic ')), password);
  ensure('the password is stored, or in the address', !isPasswordStored);
  // A link opens, and does not run.
  monitor.requests.length = 0;
  await page.goto('about:blank');
  await page.goto(`${origin}/sql#${encodeURIComponent('SELECT 42 AS answer')}`, { waitUntil: 'load' });
  await expect('an estimate of a link', 'Reads no table');
  ensure('a link ran its statement', (await page.$('.sheet')) === null && await page.$eval('textarea.statement', (field) => field.value === 'SELECT 42 AS answer'));
  // The SQL of a chart is opened from it.
  await page.goto(`${origin}/charts`, { waitUntil: 'load' });
  await rest(page);
  await press('SQL');
  await page.waitForSelector('.snippet a', { timeout: 20_000 });
  await page.evaluate(() => document.querySelector('.snippet a').click());
  await expect('the statement of a chart', 'Reads');
  ensure('a chart opened nothing', await page.$eval('textarea.statement', (field) => /^(SELECT|WITH)/.test(field.value)));
  await press('Log out');
  await expect('after it', 'Log in to the database');
  ensure('the account is still there', await page.evaluate(() => Object.keys(sessionStorage).every((name) => !name.startsWith('trawl.sql'))));
  ensure('the policy was broken', (await page.evaluate(() => globalThis.violations)).length === 0);
  problems.push(...monitor.problems.filter((problem) => !problem.includes('/sql/query')));
} finally {
  await end(browser);
}
for (const problem of problems) console.error(problem);
console.log(`${checked} checks, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
