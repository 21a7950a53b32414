// Whether a block can still be replaced.

/** Heights of the newest safe and the newest finalized block, if they are known. */
export interface Marks { safe: number | null; finalized: number | null }

/** The finality of a block, by the tags of the execution API; `null` if it is not known. */
export function finalityOf(block: number, marks: Marks | null): 'finalized' | 'safe' | 'not finalized yet' | null {
  if (!marks || marks.finalized === null) return null;
  if (block <= marks.finalized) return 'finalized';
  return marks.safe !== null && block <= marks.safe ? 'safe' : 'not finalized yet';
}
