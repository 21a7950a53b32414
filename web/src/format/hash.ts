// Hashes and addresses in short form, and texts that are safe to show.

/** The first and last characters of a hash, with an ellipsis between. */
export function shortHash(hash: string, head = 8, tail = 6): string {
  return hash.length <= head + tail + 3 ? hash : `${hash.slice(0, head)}…${hash.slice(-tail)}`;
}

export const isAddress = (text: string) => /^0x[0-9a-f]{40}$/i.test(text);
export const isHash = (text: string) => /^0x[0-9a-f]{64}$/i.test(text);

/** Replaces characters that are invisible, or change the direction of the text, by their codes; fillers of Hangul are letters to Unicode. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu, (mark) =>
    mark === '\n' || mark === '\t' ? ' ' : `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Bytes decoded as text; null if they are not text, or too few to decide. */
export function textOf(data: string): string | null {
  const bytes = Uint8Array.from(data.slice(2).match(/../g) ?? [], (pair) => parseInt(pair, 16));
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return Array.from(text).length > 2 && !/[\p{Cc}\p{Co}\p{Cn}]/u.test(text) ? visible(text) : null;
  } catch {
    return null;
  }
}

/** A name, truncated to a number of characters. */
export function shortName(name: string, most = 40): string {
  const letters = Array.from(visible(name));
  return letters.length > most ? `${letters.slice(0, most).join('')}…` : letters.join('');
}
