// A Chromium to test with: one that the system has, else the one in the npm package, which needs no download of its own.
import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import puppeteer from 'puppeteer-core';

const OF_SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];

/** What that package would emulate, a graphics card, takes a fifth of the CPU time of a run; pages need none. */
const OF_GRAPHICS = /gl=|angle|swiftshader|gpu/;
const WITHOUT_GRAPHICS = ['--disable-gpu', '--disable-software-rasterizer'];

/** Starts it; a machine on which none starts is told what to install. */
export async function start() {
  const named = process.env['CHROMIUM'];
  const ways = [...(named ? [named] : []), ...OF_SYSTEM.filter((path) => existsSync(path))];
  const env = { ...process.env, LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' };
  for (const executablePath of ways) {
    try {
      return await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--lang=en-US'], headless: true, env });
    } catch {
      // Then the next one.
    }
  }
  const args = [...chromium.args.filter((argument) => !OF_GRAPHICS.test(argument)), ...WITHOUT_GRAPHICS, '--lang=en-US'];
  let failure;
  // The package unpacks its program at the first start on a machine: a start beside that one finds a file that is still written.
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

/** How long Chromium may take to end. */
const END = 15_000;

/** Ends it. `close()` waits for the process for ever, and Chromium as one process does not always end (Sparticuz/chromium#85). */
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

/** Answers that tell of something missing, and are shown as such: a browser logs them all the same. */
const isToldMissing = (url, text) => /status of (404|422|501)/.test(text) && /^\/(api|assets|stats-service)\//.test(new URL(url).pathname);

/** A page of its own that notes what must not happen, as `problems`, and what it asked for, as `asked`. */
export async function watchedPage(browser, origin) {
  const page = await browser.newPage();
  const seen = { problems: [], asked: [] };
  page.on('console', (message) => {
    const url = message.location().url ?? '';
    if (message.type() === 'error' && !seen.isAway && !(url && isToldMissing(url, message.text()))) seen.problems.push(`console: ${message.text()} ${url}`);
  });
  page.on('pageerror', (error) => seen.problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.host !== new URL(origin).host) seen.problems.push(`request to another origin: ${request.url()}`);
    if (request.method() === 'GET') seen.asked.push(url.pathname + url.search);
  });
  await page.evaluateOnNewDocument(() => {
    globalThis.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    // What is still awaited, for `rest`: counted by each document, so that what a page before left open does not matter.
    globalThis.awaited = 0;
    globalThis.changed = performance.now();
    const { fetch } = globalThis;
    globalThis.fetch = (...asked) => {
      globalThis.awaited += 1;
      return fetch(...asked).finally(() => { globalThis.awaited -= 1; });
    };
    new MutationObserver(() => { globalThis.changed = performance.now(); }).observe(document, { subtree: true, childList: true, characterData: true });
    globalThis.shift = 0;
    globalThis.longest = 0;
    globalThis.painted = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, entry.duration); }).observe({ type: 'longtask', buffered: true });
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.painted = entry.startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });
  });
  return { page, seen };
}

/** Waits until the page has its answers and shows them: no request is open, no fact is awaited, and nothing changed for a moment. */
export function rest(page) {
  return page.waitForFunction(() => document.querySelector('main h1') && globalThis.awaited === 0 && !document.querySelector('main[aria-busy=true], main .loading') && ![...document.querySelectorAll('main :is(dd, span, p)')].some((value) => value.textContent === '…') && performance.now() - globalThis.changed > 200, { timeout: 20_000, polling: 50 }).then(() => true, () => false);
}
