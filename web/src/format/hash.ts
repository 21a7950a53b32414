// Hashes and addresses in short form, and texts that are safe to show.

/** The first and last characters of a hash, with an ellipsis between. */
export function shortHash(hash: string, head = 8, tail = 6): string {
  return hash.length <= head + tail + 3 ? hash : `${hash.slice(0, head)}…${hash.slice(-tail)}`;
}

export const isAddress = (text: string) => /^0x[0-9a-f]{40}$/i.test(text);
export const isHash = (text: string) => /^0x[0-9a-f]{64}$/i.test(text);

/** Characters that are invisible or change the direction of the text; not the signs that Arabic numbers have, nor the one that makes an emoji of a symbol. */
export const INVISIBLE = /(?![\ufe0f\u0600-\u0605\u06dd])[\p{Cf}\p{DI}\u2028\u2029\u2800]/u;
const MARKS = new RegExp(`\\p{Cc}|${INVISIBLE.source}`, 'gu');

/** Replaces them, and control characters, by their codes. */
export function visible(text: string): string {
  return text.replace(MARKS, (mark) => (mark === '\n' || mark === '\t' ? ' ' : codeOf(mark.codePointAt(0) ?? 0)));
}

const codeOf = (point: number) => (point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, '0')}`);

/** The bytes of hexadecimal digits. */
export const bytesOf = (digits: string) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Bytes decoded as text; null if they are not text, or too few to decide. */
export function textOf(data: string): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(data.slice(2)));
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
