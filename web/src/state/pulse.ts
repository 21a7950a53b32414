// Whether the chain is alive: asked again now and then while the page is looked at.
import { computed, signal } from '@preact/signals';
import { getJson } from '../api/request.ts';
import { type Health, intervalOf, pulseOf } from '../format/pulse.ts';
import { ofChain } from '../start/base.ts';
import { now } from './view.ts';

interface Newest { height: number; timestamp: string }

/** What the server said last of itself, and when; no `said` if it did not answer. */
export const health = signal<{ said: Health | null; at: number } | null>(null);
/** The newest blocks, as far as a page asked for them. */
const newest = signal<Newest[] | null>(null);

/** `null` while nothing is known. */
export const pulse = computed(() => {
  const known = health.value;
  if (!known) return null;
  const blocks = newest.value ?? [];
  return pulseOf({ health: known.said, since: Math.max(now.value - known.at, 0), interval: intervalOf(blocks), newest: blocks[0]?.timestamp ?? null });
});

const EVERY = 20_000;
/** How often blocks come changes seldom. */
const ROUNDS = 20;
let round = 0;
let isAsking = false;

/** Pages that show the newest blocks have asked for them. */
export function tellNewest(blocks: Newest[]): void {
  newest.value = blocks;
}

async function ask(): Promise<void> {
  if (isAsking || document.visibilityState !== 'visible') return;
  isAsking = true;
  const said = await getJson<Health>('/api/health').catch(() => null);
  health.value = { said, at: Date.now() };
  const isWanted = newest.peek() === null ? !/^\/(status)?$/.test(ofChain(location.pathname)) : round % ROUNDS === 0 && round > 0;
  round += 1;
  if (said && isWanted) await getJson<Newest[]>('/api/v2/main-page/blocks').then(tellNewest, () => {});
  isAsking = false;
}

/** Begins once the page is there, so that nothing of it waits for this. */
export function watchPulse(): void {
  const begin = () => {
    void ask();
    setInterval(() => void ask(), EVERY);
    document.addEventListener('visibilitychange', () => void ask());
  };
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin, { once: true });
}
