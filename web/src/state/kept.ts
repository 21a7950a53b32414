// Small things that the browser keeps for its owner. Nothing of it is sent anywhere.
import { signal } from '@preact/signals';

/** A signal whose value outlives the page; `fallback` where nothing was kept or nothing can be. */
export function kept<T>(name: string, fallback: T, read: (text: string) => T, write: (value: T) => string) {
  let first = fallback;
  try {
    const text = localStorage.getItem(`trawl.${name}`);
    if (text !== null) first = read(text);
  } catch {
    // Then it holds as long as the page is open.
  }
  const value = signal<T>(first);
  const set = (next: T) => {
    value.value = next;
    try {
      localStorage.setItem(`trawl.${name}`, write(next));
    } catch {
      // The same.
    }
  };
  return { value, set };
}
