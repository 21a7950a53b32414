// Whether a block can still be replaced.

/** Heights of the newest safe and the newest finalized block, as far as they are known. */
export interface Marks { safe: number | null; finalized: number | null }

/** In the words of the execution API's tags; `null` where they are not known. */
export function finalityOf(block: number, marks: Marks | null): 'finalized' | 'safe' | 'not finalized yet' | null {
  if (!marks || marks.finalized === null) return null;
  if (block <= marks.finalized) return 'finalized';
  return marks.safe !== null && block <= marks.safe ? 'safe' : 'not finalized yet';
}
