// The method and the outcome of a transaction.
import type { RevertReason } from '../api/types.ts';
import { shortName } from '../format/hash.ts';
import { reasonText } from '../format/trace/reason.ts';

export function Method({ name }: { name: string | null }) {
  return name ? <span class="method" title={name.slice(0, 200)}>{shortName(name, 22)}</span> : <span class="quiet">–</span>;
}

export function Outcome({ status, result, reason }: { status: 'ok' | 'error' | null; result?: string | null; reason?: RevertReason | null }) {
  if (status === null) return <span class="badge" title="Receipts before Byzantium have no status; otherwise the receipt is not loaded">outcome unknown</span>;
  if (status === 'ok') return <span class="badge good">succeeded</span>;
  return <span class="badge bad" title={reasonText(reason) ?? result ?? undefined}>failed</span>;
}

/** Marks a call that failed, or that was reverted with a call around it. */
export function UndoneBadge() {
  return <span class="badge bad" title="It failed, or a call around it did, so that its value was returned">undone</span>;
}
