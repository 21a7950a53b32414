// The statements that were run in this browser, newest first. They are sent nowhere.
import { base } from '../start/base.ts';
import { storedSignal } from '../state/storage.ts';

export interface Past { statement: string; at: number; rows: number; seconds: number; outcome: 'whole' | 'stopped' | 'failed' }

const MOST = 50;
const list = storedSignal<Past[]>(`sql.past${base}`, [], (text) => JSON.parse(text) as Past[], JSON.stringify);
export const past = list.value;

export function note(one: Past): void {
  list.set([one, ...past.value.filter((other) => other.statement !== one.statement)].slice(0, MOST));
}

export const forget = (): void => list.set([]);
