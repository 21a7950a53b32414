// Lists of 50 rows on a phone: no page of them is longer than some screens.
import { rest } from './browser.mjs';

/** The greatest height of a page with 50 rows, in pixels of a screen that is 390 wide. */
const MAX_HEIGHT = 4500;
const LISTS = ['/blocks', '/txs', '/internal-txs', '/token-transfers', '/withdrawals', '/tokens', '/accounts'];

export async function phoneLists(page, origin) {
  const problems = [];
  await page.setViewport({ width: 390, height: 844 });
  for (const path of LISTS) {
    await page.goto(origin + path, { waitUntil: 'load' });
    await rest(page);
    const { rows, height } = await page.evaluate(() => ({ rows: document.querySelectorAll('table.list tbody tr[data-row]').length, height: document.documentElement.scrollHeight }));
    if (rows > 50) problems.push(`${path} has ${rows} rows`);
    if (height > MAX_HEIGHT) problems.push(`${path}: ${rows} rows are ${height} px high`);
  }
  return problems;
}
