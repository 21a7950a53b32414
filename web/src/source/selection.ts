// A file and its lines in the URL of the page: `file=contracts/Token.sol&line=12-20`.

/** Lines from `first` to `last`, counted from 1. */
export interface LineRange { first: number; last: number }
export interface SourceSelection { path: string | null; lines: LineRange | null }

/** The largest number of a line. */
const MAX_LINE = 1e9;

export function selectionOf(query: Record<string, string | undefined>): SourceSelection {
  return { path: query['file'] ?? null, lines: linesOf(query['line'] ?? '') };
}

/** The lines of `12`, `12-20` or `L12-L20`; `null` for anything else. */
export function linesOf(text: string): LineRange | null {
  const found = /^L?(\d{1,10})(?:-L?(\d{1,10}))?$/i.exec(text.trim());
  if (!found) return null;
  const ends = [Number(found[1]), Number(found[2] ?? found[1])];
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  return first > 0 && last < MAX_LINE ? { first, last } : null;
}

/** What a click on a line chooses: that line, or with Shift all from the one chosen before. */
export const linesTo = (before: LineRange | null, line: number): LineRange => ({ first: Math.min(before?.first ?? line, line), last: Math.max(before?.first ?? line, line) });

/** The parameters of a selection; the lines of no file are those of the main one. */
export function selectionQuery({ path, lines }: SourceSelection): { file: string | undefined; line: string | undefined } {
  return { file: path ?? undefined, line: lines ? (lines.first === lines.last ? String(lines.first) : `${lines.first}-${lines.last}`) : undefined };
}
