// Ranges of blocks: what is there, from what is missing.

export interface Range { first: number; last: number }

/** What of `whole` is not in `missing`, which is ascending and without overlaps. */
export function without(whole: Range, missing: Range[]): Range[] {
  const there: Range[] = [];
  let next = whole.first;
  for (const gap of missing) {
    if (gap.first > next) there.push({ first: next, last: Math.min(gap.first - 1, whole.last) });
    next = Math.max(next, gap.last + 1);
  }
  if (next <= whole.last) there.push({ first: next, last: whole.last });
  return there;
}

export const lengthOf = (ranges: Range[]) => ranges.reduce((sum, range) => sum + range.last - range.first + 1, 0);
