// A text in rows: its lines, the long ones cut, so that no row is too much to show.
import { INVISIBLE, visible } from '../format/hash.ts';
import type { Grammar } from './grammar.ts';
import { longSpans, type Token, tokensOf } from './tokens.ts';

export interface CodeText {
  text: string;
  grammar: Grammar | null;
  /** Where each row begins and ends, without its line break. */
  starts: number[];
  ends: number[];
  /** The line of each row, from 1. */
  lines: number[];
  lineCount: number;
  /** The most columns of a row; a tab at its beginning is four of them. */
  longest: number;
  /** Comments and strings of more than one row, in order. */
  spans: Token[];
}

/** The most characters of a row. */
const MAX_ROW = 400;
const [TAB, LF, CR] = [9, 10, 13];

/** Lines end with LF, CRLF or CR, as in editors. */
export function codeText(text: string, grammar: Grammar | null): CodeText {
  const code: CodeText = { text, grammar, starts: [], ends: [], lines: [], lineCount: 0, longest: 0, spans: [] };
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = at < text.length ? text.charCodeAt(at) : LF;
    if (letter !== LF && letter !== CR) continue;
    // What ends with a line break has no empty line after it.
    if (at === text.length && start === at && at > 0) break;
    addLine(code, start, at);
    if (letter === CR && text.charCodeAt(at + 1) === LF) at += 1;
    start = at + 1;
  }
  if (grammar) code.spans = longSpans(text, code.ends, grammar);
  return code;
}

function addLine(code: CodeText, start: number, end: number): void {
  code.lineCount += 1;
  let from = start;
  do {
    let to = Math.min(from + MAX_ROW, end);
    // Both halves of a character stay together.
    if (to < end && (code.text.charCodeAt(to) & 0xfc00) === 0xdc00) to += 1;
    code.starts.push(from);
    code.ends.push(to);
    code.lines.push(code.lineCount);
    let tabs = 0;
    while (from + tabs < to && code.text.charCodeAt(from + tabs) === TAB) tabs += 1;
    code.longest = Math.max(code.longest, to - from + 3 * tabs);
    from = to;
  } while (from < end);
}

/** The last index whose value is at most `value`, in numbers that ascend; -1 if there is none. */
function lastAtMost(value: number, length: number, valueAt: (index: number) => number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The first row of a line; the last row if there are fewer lines. */
export function rowOfLine({ lines }: CodeText, line: number): number {
  return Math.min(lastAtMost(line - 1, lines.length, (index) => lines[index] ?? 0) + 1, lines.length - 1);
}

export const rowText = ({ text, starts, ends }: CodeText, row: number): string => text.slice(starts[row], ends[row]);

export function tokensOfRow(code: CodeText, row: number): Token[] {
  const { grammar, spans } = code;
  if (!grammar) return [];
  const start = code.starts[row] ?? 0;
  const before = spans[lastAtMost(start - 1, spans.length, (index) => spans[index]?.start ?? 0)];
  return tokensOf(rowText(code, row), grammar, before && before.end > start ? { ...before, end: before.end - start } : null);
}

/** Characters that are shown as their codes: those that are invisible, or change the direction of the text. */
const MARKS = new RegExp(`(?![\\t\\n\\r])\\p{Cc}|${INVISIBLE.source}`, 'gu');
const MARK = new RegExp(`(${MARKS.source})`, 'u');
const PLAIN = /^[\t\n\r -~]*$/;
/** Characters that change the direction of the text (CVE-2021-42574). */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Whether a reader who does not see them could be deceived about what is code. */
export const changesDirection = (text: string): boolean => DIRECTION.test(text);

const codes = new Map<string, string>();
function codeOf(mark: string): string {
  const code = codes.get(mark) ?? visible(mark);
  codes.set(mark, code);
  return code;
}

/** A text with such characters as their codes. */
export const withCodes = (text: string): string => (PLAIN.test(text) ? text : text.replace(MARKS, codeOf));

/** The most codes of a piece of a row that stand out: the rest is one of them. */
const MAX_MARKS = 20;

/** A text in pieces: every second one is such a character. */
export function splitAtMarks(text: string): string[] {
  if (PLAIN.test(text)) return [text];
  const pieces = text.split(MARK);
  return pieces.length <= 2 * MAX_MARKS ? pieces : [...pieces.slice(0, 2 * MAX_MARKS - 1), pieces.slice(2 * MAX_MARKS - 1).join('')];
}
