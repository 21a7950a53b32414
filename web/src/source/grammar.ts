// The words and marks of the languages of contracts, as far as colours need them: nothing is parsed.

export interface Grammar {
  /** Finds what opens a comment or a string, from its `lastIndex` on. */
  openers: RegExp;
  /** What ends each of them; a line break does so without being part of it, and what begins with a backslash does not. */
  closers: Readonly<Record<string, RegExp>>;
  /** Finds, in groups: what opens a comment or a string, a number, a word, and characters beyond ASCII. */
  lexer: RegExp;
  keywords: ReadonlySet<string>;
  types: RegExp;
  /** What follows a string that is the name of a member. */
  afterName: RegExp | null;
}

/** solc ends comments of a line at these (its `isUnicodeLinebreak`); an editor that shows fewer lines hides code in a comment. */
const SOLC_LINE = '[\\n\\v\\f\\r\\x85\\u2028\\u2029]';
const NUMBER = '0[xX][\\da-fA-F_]*|\\.?\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][+-]?\\d[\\d_]*)?';

interface Marks { closers: Record<string, string>; word: string; keywords: string; types: string; afterName?: RegExp }

function grammar({ closers, word, keywords, types, afterName }: Marks): Grammar {
  const openers = Object.keys(closers).map((opener) => opener.replace(/[*/]/g, '\\$&')).join('|');
  return {
    openers: new RegExp(openers, 'g'),
    closers: Object.fromEntries(Object.entries(closers).map(([opener, closer]) => [opener, new RegExp(closer, 'g')])),
    lexer: new RegExp(`(${openers})|(${NUMBER})|(${word})|([^\\0-\\x7f]+)`, 'g'),
    keywords: new Set(keywords.split(' ')),
    types: new RegExp(`^(?:${types})$`),
    afterName: afterName ?? null,
  };
}

/** A string ends at its quote or at the end of the line; a backslash takes away the meaning of what follows, also of a line break. */
const string = (quote: string, line: string) => `\\\\(?:\\r\\n|[^])|${quote}|${line}`;
const CURLY = { '//': SOLC_LINE, '/*': '\\*/', '"': string('"', SOLC_LINE), "'": string("'", SOLC_LINE) };

const SOLIDITY = grammar({
  closers: CURLY,
  word: '[A-Za-z_$][\\w$]*',
  keywords: 'abstract anonymous as assembly break calldata case catch constant constructor continue contract days default delete do else emit enum error ether event external fallback false final finney for from function global gwei hex hours if immutable import indexed interface internal is layout leave let library mapping memory minutes modifier new override payable pragma private public pure receive return returns revert seconds storage struct super switch szabo this throw transient true try type unchecked unicode using view virtual weeks wei while years',
  types: 'u?int\\d*|bytes\\d*|u?fixed(?:\\d+x\\d+)?|address|bool|byte|string|var',
});
const YUL = grammar({
  closers: CURLY,
  word: '[A-Za-z_$][\\w$.]*',
  keywords: 'break case code continue data default false for function hex if leave let object switch true',
  types: '[us](?:8|32|64|128|256)|bool',
});
const VYPER = grammar({
  closers: { '"""': '\\\\[^]|"""', "'''": "\\\\[^]|'''", '"': string('"', '[\\n\\r]'), "'": string("'", '[\\n\\r]'), '#': '[\\n\\r]' },
  word: '@?[A-Za-z_]\\w*',
  keywords: 'and as assert break constant continue def del elif else enum event exports extcall False flag for from if immutable implements import in indexed initializes interface is log None not or pass public raise return self staticcall struct transient True uses',
  types: 'u?int\\d*|bytes\\d*|address|bool|Bytes|decimal|DynArray|HashMap|String',
});
const JSON_TEXT = grammar({ closers: { '"': string('"', '[\\n\\r]') }, word: '[A-Za-z]+', keywords: 'true false null', types: '(?!)', afterName: /\s*:/y });

const BY_EXTENSION: Record<string, Grammar> = { sol: SOLIDITY, vy: VYPER, vyi: VYPER, yul: YUL, json: JSON_TEXT };
const BY_LANGUAGE: Record<string, Grammar> = { solidity: SOLIDITY, vyper: VYPER, yul: YUL };

/** The grammar of a file, by the end of its name, else by the language of its contract; `null` if neither is known. */
export function grammarOf(path: string, language: string | null): Grammar | null {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  const known = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  return known ?? (language !== null && Object.hasOwn(BY_LANGUAGE, language) ? BY_LANGUAGE[language] ?? null : null);
}
