// A Chromium to test with: one installed on the system, else the one in the npm package, which downloads nothing.
import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

const SYSTEM_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

/** The package emulates a graphics card, which takes a fifth of the CPU time of a run; the pages need none. */
const GRAPHICS_FLAG = /gl=|angle|swiftshader|gpu/;
const NO_GRAPHICS_FLAGS = ['--disable-gpu', '--disable-software-rasterizer'];

/** Starts Chromium. If none starts, the error says what to install. */
export async function start() {
  const override = process.env['CHROMIUM'];
  const paths = [...(override ? [override] : []), ...SYSTEM_PATHS.filter((path) => existsSync(path))];
  const env = { ...process.env, LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' };
  for (const executablePath of paths) {
    try {
      return await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--lang=en-US'], headless: true, env });
    } catch {
      // Try the next one.
    }
  }
  const args = [...chromium.args.filter((argument) => !GRAPHICS_FLAG.test(argument)), ...NO_GRAPHICS_FLAGS, '--lang=en-US'];
  let failure;
  // The package unpacks its program at the first start on a machine: a concurrent start finds a file that is still being written.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await puppeteer.launch({ executablePath: await chromium.executablePath(), args, headless: 'shell', env });
    } catch (cause) {
      failure = cause;
      await new Promise((resolve) => { setTimeout(resolve, 2_000); });
    }
  }
  throw new Error('No Chromium starts here. Install one (Debian: apt install chromium), or name it in CHROMIUM.', { cause: failure });
}

/** How long Chromium may take to exit. */
const END = 15_000;

/** Closes the browser. `close()` waits for the process for ever, and Chromium as one process does not always end (Sparticuz/chromium#85). */
export async function end(browser) {
  const timer = setTimeout(() => {
    console.error(`Chromium had not ended after ${END / 1_000} s and is killed`);
    browser.process()?.kill('SIGKILL');
  }, END);
  try {
    await browser.close();
  } finally {
    clearTimeout(timer);
  }
}

/** Error statuses that the page handles and displays: the browser logs them all the same. */
const isExpectedStatus = (url, text) => /status of (404|422|501)/.test(text) && /^\/(api|assets|stats-service)\//.test(new URL(url).pathname);

/** A new page whose monitor records violations (`problems`) and the GET requests of the page (`requests`). */
export async function monitoredPage(browser, origin) {
  const page = await browser.newPage();
  const monitor = { problems: [], requests: [] };
  page.on('console', (message) => {
    const url = message.location().url ?? '';
    if (message.type() === 'error' && !monitor.isOffline && !(url && isExpectedStatus(url, message.text()))) monitor.problems.push(`console: ${message.text()} ${url}`);
  });
  page.on('pageerror', (error) => monitor.problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.host !== new URL(origin).host) monitor.problems.push(`request to another origin: ${request.url()}`);
    if (request.method() === 'GET') monitor.requests.push(url.pathname + url.search);
  });
  await page.evaluateOnNewDocument(() => {
    globalThis.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    // Open requests, for `rest`: counted per document, so that requests of the previous page do not count.
    globalThis.pending = 0;
    globalThis.lastChange = performance.now();
    const { fetch } = globalThis;
    globalThis.fetch = (...args) => {
      globalThis.pending += 1;
      return fetch(...args).finally(() => { globalThis.pending -= 1; });
    };
    new MutationObserver(() => { globalThis.lastChange = performance.now(); }).observe(document, { subtree: true, childList: true, characterData: true });
    globalThis.shift = 0;
    globalThis.longestTask = 0;
    globalThis.largestPaint = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.longestTask = Math.max(globalThis.longestTask, entry.duration); }).observe({ type: 'longtask', buffered: true });
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.largestPaint = entry.startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });
  });
  return { page, monitor };
}

/** Waits until the page is idle: no request is open, no value is a placeholder, and nothing changed for a moment. */
export function rest(page) {
  return page.waitForFunction(() => document.querySelector('main h1') && globalThis.pending === 0 && !document.querySelector('main[aria-busy=true], main .loading') && ![...document.querySelectorAll('main :is(dd, span, p)')].some((value) => value.textContent === '…') && performance.now() - globalThis.lastChange > 200, { timeout: 20_000, polling: 50 }).then(() => true, () => false);
}
