// Balance changes grouped by address: the sender first, tiny changes last.
import type { StateChange } from '../../api/types.ts';

/** Changes of fewer wei count as dust. */
const DUST = 1_000_000_000n;

const isDust = ({ type, change }: StateChange) => {
  const wei = type === 'coin' && change !== null ? BigInt(change) : null;
  return wei !== null && (wei < 0n ? -wei : wei) < DUST;
};

/** The changes by address; addresses that have only tiny changes are in `dust`. */
export function changesByAddress(items: StateChange[], sender: string): { groups: StateChange[][]; dust: StateChange[][] } {
  const byAddress = new Map<string, StateChange[]>();
  for (const item of items) {
    const address = item.address.hash.toLowerCase();
    byAddress.set(address, [...(byAddress.get(address) ?? []), item]);
  }
  const all = [...byAddress].map(([address, changes]) => ({ changes, rank: address === sender.toLowerCase() ? 0 : changes[0]?.is_miner ? 2 : 1 }));
  const groups = all.toSorted((one, other) => one.rank - other.rank);
  const isOfDust = ({ changes, rank }: { changes: StateChange[]; rank: number }) => rank > 0 && changes.every(isDust);
  return { groups: groups.filter((group) => !isOfDust(group)).map(({ changes }) => changes), dust: groups.filter(isOfDust).map(({ changes }) => changes) };
}

interface Account { storage?: Record<string, string> }
/** The result of a node's `prestateTracer` with `diffMode`. */
export interface Difference { pre: Record<string, Account>; post: Record<string, Account> }
export interface SlotChange { address: string; slot: string; before: string; after: string }

const ZERO = `0x${'0'.repeat(64)}`;

/** The storage slots that changed, with their values before and after. */
export function slotsOf({ pre, post }: Difference): SlotChange[] {
  return Object.keys({ ...pre, ...post }).flatMap((address) => {
    const [before, after] = [pre[address]?.storage ?? {}, post[address]?.storage ?? {}];
    return Object.keys({ ...before, ...after }).map((slot) => ({ address, slot, before: before[slot] ?? ZERO, after: after[slot] ?? ZERO }));
  });
}
