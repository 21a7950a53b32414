// The page without a pointer: a tour from the search box on, and a walk over everything that takes the focus.

const TABS = 8;
const path = (page) => page.evaluate(() => location.pathname + location.search);
const arrivesAt = (page, target) => page.waitForFunction((to) => location.pathname + location.search === to && !document.querySelector('main[aria-busy=true], main .loading'), { timeout: 20_000 }, target).then(() => true, () => false);
const focused = (page) => page.evaluate(() => ({ text: document.activeElement?.textContent?.trim().slice(0, 60), tag: document.activeElement?.tagName, href: document.activeElement?.getAttribute('href') }));

/** Home, search, a transaction, its parts, a list, what a row leads to, and back. */
export async function byKeys(page, origin) {
  const problems = [];
  const press = (key) => page.keyboard.press(key);
  const hash = await page.evaluate(async () => {
    const { items } = await fetch('/api/v2/token-transfers?items_count=100').then((answer) => answer.json());
    return items[0].transaction_hash;
  });
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(origin, { waitUntil: 'networkidle2' });
  await press('/');
  if (!(await isSeen(page))) problems.push('the search box does not show that it has the focus');
  // Suggestions: down to one, Escape to the box, Escape out of it.
  await page.keyboard.type(hash);
  if (!(await page.waitForSelector('.search li', { visible: true, timeout: 20_000 }).then(() => true, () => false))) problems.push('no suggestion came');
  await press('ArrowDown');
  if (!(await page.evaluate(() => document.querySelector('.search li[aria-selected=true]') !== null))) problems.push('no suggestion was chosen');
  await press('Escape');
  if ((await focused(page)).tag !== 'INPUT' || (await page.$('.search li'))) problems.push('Escape did not close the suggestions alone');
  await press('Escape');
  if ((await focused(page)).tag === 'INPUT') problems.push('Escape did not leave the search box');
  await press('/');
  await page.evaluate(() => document.activeElement.select());
  await page.keyboard.type(hash);
  await press('Enter');
  if (!(await arrivesAt(page, `/tx/${hash}`))) return [...problems, `the search led to ${await path(page)}`];
  // Through the parts, to the next one by an arrow.
  await tabTo(page, '.tabs a', problems);
  for (const tab of ['logs', 'token_transfers']) {
    await press('ArrowRight');
    if (!(await isSeen(page))) problems.push(`${tab}: the tab does not show that it has the focus`);
    await press('Enter');
    if (!(await arrivesAt(page, `/tx/${hash}?tab=${tab}`))) problems.push(`the tab led to ${await path(page)}`);
  }
  await press('ArrowLeft');
  if (!(await focused(page)).href?.endsWith('tab=logs')) problems.push('the arrow did not lead back to the tab before');
  // The list below, by letters and arrows; Enter opens what has the focus.
  await page.waitForSelector('[data-row] a', { timeout: 20_000 });
  await press('j');
  if (!(await isSeen(page))) problems.push('the row does not show that it has the focus');
  const { href } = await focused(page);
  await press('ArrowDown');
  await press('ArrowUp');
  if ((await focused(page)).href !== href) problems.push('down and up did not lead back to the row');
  await press('Enter');
  if (!href || !(await arrivesAt(page, href))) problems.push(`the row led to ${await path(page)} and not to ${href}`);
  // A name for the address: Escape closes the form, and the focus is where it was.
  await tabTo(page, '.subject button:not(.copy)', problems);
  await press('Enter');
  if ((await focused(page)).tag !== 'INPUT') problems.push('the form for a name did not take the focus');
  await press('Escape');
  if ((await focused(page)).text !== 'Add private name') problems.push('the focus did not come back from the form');
  await page.goBack();
  if (!(await arrivesAt(page, `/tx/${hash}?tab=token_transfers`))) problems.push(`the way back led to ${await path(page)}`);
  return problems;
}

/** Presses the key until something has the focus. */
async function tabTo(page, selector, problems) {
  for (let pressed = 0; pressed < 40; pressed += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((target) => document.activeElement?.matches(target), selector)) return;
  }
  problems.push(`${selector} is not reached in 40 steps`);
}

/** Whether what has the focus can be seen to have it. Its label stands for a field that is hidden. */
const isSeen = async (page) => (await focus(page)).isSeen;

/** What has the focus, unless that is the whole page, and whether it can be seen to have it. */
function focus(page) {
  return page.evaluate(() => {
    const active = document.activeElement;
    const visible = active?.matches('.hidden') ? active.closest('label') : active;
    const name = active === document.body || !document.hasFocus() ? null : `${active.tagName} ${active.className} ${active.textContent.trim().slice(0, 30)}`;
    if (!visible) return { name, isSeen: false };
    const style = getComputedStyle(visible);
    const box = visible.getBoundingClientRect();
    const isInside = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return { name, isSeen: isInside && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 };
  });
}

/** More than any of these pages has. */
const MAX_STEPS = 600;

/** Goes over all that takes the focus on pages of every kind: each shows it, and the way ends. */
export async function everyFocus(page, origin) {
  const problems = [];
  const { height } = await page.evaluate(() => fetch('/api/v2/main-page/blocks').then((answer) => answer.json()).then((blocks) => blocks[0]));
  const { hash, from } = await page.evaluate(() => fetch('/api/v2/main-page/transactions').then((answer) => answer.json()).then((items) => items[0]));
  const approvals = `/address/${from.hash}?tab=approvals`;
  const newer = ['/tools', '/names', '/ops', `/op/0x${'12'.repeat(32)}`, '/sql', '/withdrawals', '/gas', approvals, `/address/${from.hash}?tab=user_ops`];
  for (const path of [...newer, '/', `/block/${height}`, `/tx/${hash}`, `/tx/${hash}?tab=trace`, `/tx/${hash}?tab=raw`, `/address/${from.hash}?tab=logs`, '/accounts', '/scan', '/charts', '/status']) {
    await page.goto(origin + path, { waitUntil: 'networkidle2' });
    let steps = 0;
    const invisible = new Set();
    for (; steps < MAX_STEPS; steps += 1) {
      await page.keyboard.press('Tab');
      const at = await focus(page);
      if (at.name === null) break;
      if (!at.isSeen) invisible.add(at.name);
    }
    if (steps < TABS) problems.push(`${path}: only ${steps} things take the focus`);
    if (steps === MAX_STEPS) problems.push(`${path}: the focus does not come to an end`);
    for (const one of invisible) problems.push(`${path}: the focus cannot be seen on ${one}`);
  }
  return problems;
}
