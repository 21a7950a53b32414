// The statements run in this browser, newest first. They are not sent anywhere.
import { base } from '../start/base.ts';
import { storedSignal } from '../state/storage.ts';

interface HistoryEntry { statement: string; at: number; rows: number; seconds: number; outcome: 'whole' | 'stopped' | 'failed' }

const MAX_ENTRIES = 50;
const store = storedSignal<HistoryEntry[]>(`sql.past${base}`, [], (text) => JSON.parse(text) as HistoryEntry[], JSON.stringify);
export const statementHistory = store.value;

export function addToHistory(entry: HistoryEntry): void {
  store.set([entry, ...statementHistory.value.filter((other) => other.statement !== entry.statement)].slice(0, MAX_ENTRIES));
}

export const clearHistory = (): void => store.set([]);
