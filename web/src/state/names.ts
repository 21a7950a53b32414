// Private names of addresses. They are stored in the browser, and can be saved as a file.
import { storedSignal } from './storage.ts';

export type Names = Record<string, string>;

/** The names in the text of a file; fails on an entry that is not an address with a name. */
function parseNames(text: string): Names {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('The file is not a list of addresses with names.');
  const names: Names = {};
  for (const [address, name] of Object.entries(parsed)) {
    if (!/^0x[0-9a-f]{40}$/i.test(address)) throw new Error(`${address.slice(0, 60)} is not an address.`);
    if (typeof name !== 'string') throw new Error(`The name of ${address} is not text.`);
    if (name.trim()) names[address.toLowerCase()] = name.trim().slice(0, 100);
  }
  return names;
}

const store = storedSignal<Names>('names', {}, parseNames, JSON.stringify);
export const names = store.value;

/** Sets the name of an address; an empty name removes it. */
export function setName(address: string, name: string): void {
  const { [address.toLowerCase()]: _, ...others } = names.value;
  store.set(name.trim() ? { ...others, [address.toLowerCase()]: name.trim().slice(0, 100) } : others);
}

/** Adds the names of a file, which replace existing ones, and returns how many there are. */
export function importNames(text: string): number {
  const added = parseNames(text);
  store.set({ ...names.value, ...added });
  return Object.keys(added).length;
}
