// Comments, strings, numbers and words of a text, row by row. Its time grows with the length of the text, whatever is in it.
import type { Grammar } from './grammar.ts';

export type TokenKind = 'comment' | 'string' | 'number' | 'keyword' | 'type' | 'odd';

/** Part of a text, or of a row: from `start` to before `end`. */
export interface Token { kind: TokenKind; start: number; end: number }

/** The most tokens of a row: what follows has no colours. */
const MAX_TOKENS = 80;

const kindOf = (opener: string): TokenKind => (/^["']/.test(opener) ? 'string' : 'comment');

/** Where a comment or string ends whose opener ends at `from`. */
function endOf(text: string, opener: string, from: number, grammar: Grammar): number {
  const closer = grammar.closers[opener];
  if (!closer) return from;
  closer.lastIndex = from;
  for (let found = closer.exec(text); found; found = closer.exec(text)) {
    const [end] = found;
    if (!end.startsWith('\\')) return /\s|\x85/.test(end) ? found.index : closer.lastIndex;
  }
  return text.length;
}

/** The comments and strings that do not end in the row in which they begin. */
export function longSpans(text: string, ends: number[], grammar: Grammar): Token[] {
  const spans: Token[] = [];
  const { openers } = grammar;
  let row = 0;
  openers.lastIndex = 0;
  for (let found = openers.exec(text); found; found = openers.exec(text)) {
    const [opener] = found;
    const end = endOf(text, opener, openers.lastIndex, grammar);
    while ((ends[row] ?? text.length) < found.index) row += 1;
    if (end > (ends[row] ?? text.length)) spans.push({ kind: kindOf(opener), start: found.index, end });
    openers.lastIndex = end;
  }
  return spans;
}

/** The tokens of a row; `carried` is a comment or string that begins in a row before, with its end in this one. */
export function tokensOf(row: string, grammar: Grammar, carried: Token | null): Token[] {
  const tokens: Token[] = [];
  const { lexer } = grammar;
  lexer.lastIndex = 0;
  if (carried) {
    lexer.lastIndex = Math.min(carried.end, row.length);
    tokens.push({ kind: carried.kind, start: 0, end: lexer.lastIndex });
  }
  for (let found = lexer.exec(row); found && tokens.length < MAX_TOKENS; found = lexer.exec(row)) {
    const [, opener, number, word] = found;
    const end = opener ? endOf(row, opener, lexer.lastIndex, grammar) : lexer.lastIndex;
    const kind = opener ? spanKind(row, opener, end, grammar) : number ? 'number' : word ? wordKind(word, grammar) : 'odd';
    if (kind) tokens.push({ kind, start: found.index, end });
    lexer.lastIndex = end;
  }
  return tokens;
}

function spanKind(row: string, opener: string, end: number, { afterName }: Grammar): TokenKind {
  if (afterName) afterName.lastIndex = end;
  return afterName?.test(row) ? 'type' : kindOf(opener);
}

function wordKind(word: string, { keywords, types }: Grammar): TokenKind | null {
  return keywords.has(word) || word.startsWith('@') ? 'keyword' : types.test(word) ? 'type' : null;
}
