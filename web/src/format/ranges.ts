// Ranges of blocks: the loaded ones, from the missing ones.

export interface Range { first: number; last: number }

/** The ranges of `whole` that are not in `missing`, which is ascending and without overlaps. */
export function without(whole: Range, missing: Range[]): Range[] {
  const ranges: Range[] = [];
  let next = whole.first;
  for (const gap of missing) {
    if (gap.first > next) ranges.push({ first: next, last: Math.min(gap.first - 1, whole.last) });
    next = Math.max(next, gap.last + 1);
  }
  if (next <= whole.last) ranges.push({ first: next, last: whole.last });
  return ranges;
}

export const lengthOf = (ranges: Range[]) => ranges.reduce((sum, range) => sum + range.last - range.first + 1, 0);
