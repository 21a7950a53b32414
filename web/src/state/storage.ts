// Preferences stored in the browser. None of them is sent anywhere.
import { signal } from '@preact/signals';

/** A signal whose value is stored in the browser; `fallback` if nothing is stored or the browser does not allow it. */
export function storedSignal<T>(name: string, fallback: T, read: (text: string) => T, write: (value: T) => string) {
  let first = fallback;
  try {
    const text = localStorage.getItem(`trawl.${name}`);
    if (text !== null) first = read(text);
  } catch {
    // The value then lasts as long as the page is open.
  }
  const value = signal<T>(first);
  const set = (next: T) => {
    value.value = next;
    try {
      localStorage.setItem(`trawl.${name}`, write(next));
    } catch {
      // As above.
    }
  };
  return { value, set };
}
