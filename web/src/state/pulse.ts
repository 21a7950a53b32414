// The state of the chain, polled while the page is visible.
import { computed, signal } from '@preact/signals';
import { getJson } from '../api/request.ts';
import { type Health, intervalOf, pulseOf } from '../format/pulse.ts';
import { chainPath } from '../start/base.ts';
import { now } from './view.ts';

interface BlockTime { height: number; timestamp: string }

/** The latest health report of the server, and when it was fetched; `report` is null if the server did not answer. */
export const health = signal<{ report: Health | null; at: number } | null>(null);
/** The newest blocks, once a page has loaded them. */
const newestBlocks = signal<BlockTime[] | null>(null);

/** `null` until the first report. */
export const pulse = computed(() => {
  const latest = health.value;
  if (!latest) return null;
  const blocks = newestBlocks.value ?? [];
  return pulseOf({ health: latest.report, since: Math.max(now.value - latest.at, 0), interval: intervalOf(blocks), newest: blocks[0]?.timestamp ?? null });
});

/** The time between two requests, in milliseconds. */
const INTERVAL = 20_000;
/** The block interval changes rarely: the newest blocks are loaded once in so many rounds. */
const BLOCK_ROUNDS = 20;
let round = 0;
let isFetching = false;

/** Pages that load the newest blocks pass them on, which saves a request. */
export function setNewestBlocks(blocks: BlockTime[]): void {
  newestBlocks.value = blocks;
}

async function fetchHealth(): Promise<void> {
  if (isFetching || document.visibilityState !== 'visible') return;
  isFetching = true;
  const report = await getJson<Health>('/api/health').catch(() => null);
  health.value = { report, at: Date.now() };
  const needsBlocks = newestBlocks.peek() === null ? !/^\/(status)?$/.test(chainPath(location.pathname)) : round % BLOCK_ROUNDS === 0 && round > 0;
  round += 1;
  if (report && needsBlocks) await getJson<BlockTime[]>('/api/v2/main-page/blocks').then(setNewestBlocks, () => {});
  isFetching = false;
}

/** Starts polling once the page has loaded, so that it does not delay the page. */
export function watchPulse(): void {
  const start = () => {
    void fetchHealth();
    setInterval(() => void fetchHealth(), INTERVAL);
    document.addEventListener('visibilitychange', () => void fetchHealth());
  };
  if (document.readyState === 'complete') start();
  else addEventListener('load', start, { once: true });
}
