// Parts of the page that come when they are wanted, also if the server was away when they were asked for.

/** Until what could not be fetched is asked for again, in milliseconds. */
const PATIENCE = 3000;
/** The page is not loaded anew more often, in milliseconds. */
const SELDOM = 30_000;
const KEY = 'trawl.reloaded';

/** A browser may remember that a script failed, and another build has other files: then the page at its address is loaded anew. */
async function anew(): Promise<void> {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!answer.ok || Date.now() - Number(sessionStorage.getItem(KEY) ?? 0) < SELDOM) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}

/** Loads until it succeeds. */
export function later<T>(load: () => Promise<T>): () => Promise<T> {
  const again = (): Promise<T> => load().catch(async () => {
    await new Promise((done) => setTimeout(done, PATIENCE));
    return load().catch(async () => {
      await anew().catch(() => {});
      return again();
    });
  });
  return again;
}
