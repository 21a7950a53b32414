// A small picture of an address, so that addresses with the same first and last digits look different.

/** A sequence of numbers that depends on all digits of an address. */
function numbers(address: string): () => number {
  let state = 2_166_136_261;
  for (const letter of address.toLowerCase()) state = Math.imul(state ^ letter.charCodeAt(0), 16_777_619) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Squares of a symmetric five by five grid as a path, and a hue. */
export function identicon(address: string): { path: string; hue: number } {
  const next = numbers(address);
  const hue = next() % 360;
  const bits = next();
  let path = '';
  for (let cell = 0; cell < 15; cell += 1) {
    if (((bits >>> cell) & 1) === 0) continue;
    const [column, row] = [cell % 3, Math.floor(cell / 3)];
    for (const x of new Set([column, 4 - column])) path += `M${x} ${row}h1v1h-1z`;
  }
  return { path, hue };
}
