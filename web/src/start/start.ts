// Runs first, in the head of the page: the colours that were chosen, and requests for what the page will show and for its own script.
import { ofChain, onServer } from './base.ts';
import { firstRequests, partFiles } from './requests.ts';

const root = document.documentElement;
try {
  const theme = localStorage.getItem('trawl.theme');
  if (theme === 'dark' || theme === 'light') root.dataset['theme'] = theme;
} catch {
  // A browser that keeps nothing shows the colours of the system.
}

const early: Record<string, Promise<Response>> = {};
const pathname = ofChain(location.pathname);
for (const path of firstRequests(pathname, location.search)) {
  early[path] = fetch(onServer(path), { headers: { accept: 'application/json' } });
  // Who takes it sees the failure; a request that nobody takes must not be one that nobody handled.
  early[path].catch(() => {});
}
window.trawlEarly = early;

const here = document.currentScript as HTMLScriptElement | null;
for (const file of partFiles(pathname, here?.dataset['parts'] ?? '')) {
  const link = document.createElement('link');
  link.rel = 'modulepreload';
  link.href = new URL(file, here?.src).href;
  link.crossOrigin = '';
  document.head.append(link);
}
