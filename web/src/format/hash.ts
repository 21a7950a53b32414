// Hashes and addresses in few characters, and what a text in the search box is.

/** The first and last characters of a hash, with an ellipsis between. */
export function shortHash(hash: string, head = 8, tail = 6): string {
  return hash.length <= head + tail + 3 ? hash : `${hash.slice(0, head)}…${hash.slice(-tail)}`;
}

export const isAddress = (text: string) => /^0x[0-9a-f]{40}$/i.test(text);
export const isHash = (text: string) => /^0x[0-9a-f]{64}$/i.test(text);

/** Characters that cannot be seen, or turn the text around, are shown as their codes. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, (mark) =>
    mark === '\n' || mark === '\t' ? ' ' : `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Bytes as the text that they are; null if they are none, or too few to tell. */
export function textOf(data: string): string | null {
  const bytes = Uint8Array.from(data.slice(2).match(/../g) ?? [], (pair) => parseInt(pair, 16));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return Array.from(text).length > 2 && !/[\p{Cc}\p{Co}\p{Cn}]/u.test(text) ? visible(text) : null;
  } catch {
    return null;
  }
}

/** A name in at most so many characters. */
export function shortName(name: string, most = 40): string {
  const letters = Array.from(visible(name));
  return letters.length > most ? `${letters.slice(0, most).join('')}…` : letters.join('');
}
