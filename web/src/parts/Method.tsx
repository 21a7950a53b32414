// What a transaction called, and how it ended.
import { shortName } from '../format/hash.ts';

export function Method({ name }: { name: string | null }) {
  return name ? <span class="method" title={name.slice(0, 200)}>{shortName(name, 22)}</span> : <span class="quiet">–</span>;
}

export function Outcome({ status, result }: { status: 'ok' | 'error' | null; result?: string | null }) {
  if (status === null) return <span class="badge" title="Before Byzantium receipts did not say it; else the receipt is not loaded">outcome unknown</span>;
  if (status === 'ok') return <span class="badge good">succeeded</span>;
  return <span class="badge bad" title={result ?? undefined}>failed</span>;
}

/** Of a call that failed, or that a failure around it took back. */
export function Undone() {
  return <span class="badge bad" title="It failed, or a call around it did: its value went back">undone</span>;
}
