// Runs first, in the head of the page: the colours that were chosen, and requests for what the page will show.
import { firstRequests } from './requests.ts';

const root = document.documentElement;
try {
  const theme = localStorage.getItem('trawl.theme');
  if (theme === 'dark' || theme === 'light') root.dataset['theme'] = theme;
} catch {
  // A browser that keeps nothing shows the colours of the system.
}

const early: Record<string, Promise<Response>> = {};
for (const path of firstRequests(location.pathname, location.search)) {
  early[path] = fetch(path, { headers: { accept: 'application/json' } });
  // Who takes it sees the failure; a request that nobody takes must not be one that nobody handled.
  early[path].catch(() => {});
}
window.trawlEarly = early;
