// Loading of scripts on demand, retried while the server cannot be reached.

/** The pause before a retry, in milliseconds. */
const RETRY_DELAY = 3000;
/** The least time between two reloads of the page, in milliseconds. */
const MIN_RELOAD_INTERVAL = 30_000;
const KEY = 'trawl.reloaded';

/** Reloads the page: a browser may remember that a script failed, and another build has other files. */
async function reload(): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok || Date.now() - Number(sessionStorage.getItem(KEY) ?? 0) < MIN_RELOAD_INTERVAL) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}

/** Loads until it succeeds. */
export function withRetry<T>(load: () => Promise<T>): () => Promise<T> {
  const attempt = (): Promise<T> => load().catch(async () => {
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
    return load().catch(async () => {
      await reload().catch(() => {});
      return attempt();
    });
  });
  return attempt;
}
