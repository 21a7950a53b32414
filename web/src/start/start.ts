// Runs first, in the head of the page: sets the colour theme, and sends the first requests of the page and for its script.
import { chainPath, serverPath } from './base.ts';
import { firstRequests, partFiles } from './requests.ts';

const root = document.documentElement;
try {
  const theme = localStorage.getItem('trawl.theme');
  if (theme === 'dark' || theme === 'light') root.dataset['theme'] = theme;
} catch {
  // Without storage the theme is that of the system.
}

const early: Record<string, Promise<Response>> = {};
const pathname = chainPath(location.pathname);
for (const path of firstRequests(pathname, location.search)) {
  early[path] = fetch(serverPath(path), { headers: { accept: 'application/json' } });
  // The failure is handled where the request is used; an unused one must not be an unhandled rejection.
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
