// The pictures of the docs, from a running API with the bundled mainnet blocks: `npm run pictures URL`.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { start } from './browser.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
const folder = process.argv[3] ?? fileURLToPath(new URL('../../../docs/images', import.meta.url));
const WETH = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
const EVENT = encodeURIComponent('Transfer(address indexed from, address indexed to, uint256 value)');
const PAGES = {
  home: '/',
  transaction: '/tx/0x59a5347cc81ac672cf5ef5c56479d85470e00b90f7b675e9c755d6ab3055f18e',
  address: `/address/${WETH}`,
  scan: `/scan?kind=logs&address=${WETH}&event=${EVENT}`,
  charts: `/charts?contract=${WETH}`,
};

mkdirSync(folder, { recursive: true });
const browser = await start();
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });
for (const [name, path] of Object.entries(PAGES)) {
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: name === 'scan' || name === 'charts' ? 'dark' : 'light' }]);
  await page.goto(origin + path, { waitUntil: 'networkidle2' });
  if (name === 'scan') {
    await page.click('.button.main');
    await page.waitForSelector('table.list tbody tr');
    await page.waitForNetworkIdle({ idleTime: 500 });
  }
  await page.screenshot({ path: `${folder}/${name}.png` });
}
await browser.close();
