// The pictures of the docs, from a running API with the bundled mainnet blocks: `npm run pictures URL`. To look at every page of any
// chain, in both schemes and three widths: `npm run pictures URL -- --every [FOLDER]`, by default into a temporary folder.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end, start } from './browser.mjs';
import { routesOf } from './routes.mjs';

const origin = new URL(process.argv[2] ?? '').origin;
const isEvery = process.argv[3] === '--every';
const folder = isEvery ? process.argv[4] ?? mkdtempSync(join(tmpdir(), 'trawl-pictures-')) : fileURLToPath(new URL('../../../docs/images', import.meta.url));
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
if (isEvery) await everyPage();
else await ofTheDocs();
await end(browser);
console.log(folder);

async function open(path, scheme, width, height) {
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(origin + path, { waitUntil: 'networkidle2' });
}

async function ofTheDocs() {
  for (const [name, path] of Object.entries(PAGES)) {
    await open(path, name === 'scan' || name === 'charts' ? 'dark' : 'light', 1280, 800);
    if (name === 'scan') {
      await page.click('.button.main');
      await page.waitForSelector('table.list tbody tr');
      await page.waitForNetworkIdle({ idleTime: 500 });
    }
    await page.screenshot({ path: `${folder}/${name}.png` });
  }
}

async function everyPage() {
  for (const [name, path] of await routesOf(origin)) {
    for (const scheme of ['light', 'dark']) {
      for (const width of [360, 900, 1440]) {
        await open(path, scheme, width, 1000);
        await page.screenshot({ path: `${folder}/${name}-${width}-${scheme}.png` });
      }
    }
  }
}
