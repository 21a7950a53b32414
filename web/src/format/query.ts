// What the text in the search box may mean, without a request: addresses, heights, hashes, dates, selectors, names.
import { count, group } from './amount.ts';
import { shortHash, shortName } from './hash.ts';
import { checksum } from './keccak.ts';
import type { KnownToken } from './suspect.ts';
import { absolute } from './time.ts';

export interface Guess {
  name: string;
  kind: string;
  /** The path that it leads to; for a time it is looked up, and leads to the newest block at that time. */
  path?: string;
  seconds?: number;
  /** A remark on it. */
  note?: string;
  /** Whether the text can mean nothing else. */
  isCertain?: boolean;
}

/** Names that people search well-known tokens by, besides their symbols. */
const TOKEN_NAMES: Record<string, string> = {
  USDT: 'Tether USD', USDC: 'USD Coin', WETH: 'Wrapped Ether', WBTC: 'Wrapped Bitcoin', DAI: 'Dai Stablecoin', LINK: 'ChainLink', UNI: 'Uniswap', STETH: 'Lido Staked Ether', WSTETH: 'Wrapped Lido Staked Ether',
  SHIB: 'Shiba Inu', AAVE: 'Aave', MKR: 'Maker', LDO: 'Lido DAO', CRV: 'Curve DAO', ARB: 'Arbitrum', OP: 'Optimism', PEPE: 'Pepe', ENS: 'Ethereum Name Service', COMP: 'Compound', FRAX: 'Frax',
};

interface Vocabulary { names: Record<string, string>; tokens: readonly KnownToken[] }

const MAX_GUESSES = 6;

/** A link to an object on a page of this or another explorer. */
const LINK = /^https?:\/\/[^\s?#]*\/(?:tx|address|token|block|op)\/([^\s/?#]+)/i;

const FROM_LINK = { isCertain: false, note: 'From a link, which may be of another chain' };

/** What is searched for: the object of a pasted link, otherwise the text itself. */
export function searchedText(text: string): string {
  const input = text.trim();
  return LINK.exec(input)?.[1] ?? input;
}

/** Everything that a text may mean, the most certain first. */
export function guessesOf(text: string, vocabulary: Vocabulary): Guess[] {
  const input = searchedText(text);
  if (!input) return [];
  const guesses = [address(input), height(input), hash(input), date(input), ...selector(input), ...byName(input, vocabulary), partialHash(input)];
  return guesses.filter((guess) => guess !== null).slice(0, MAX_GUESSES).map((guess) => (input === text.trim() ? guess : { ...guess, ...FROM_LINK }));
}

function address(input: string): Guess | null {
  const digits = /^(?:0x)?([0-9a-f]{40})$/i.exec(input)?.[1];
  if (!digits) return null;
  return { name: shortHash(`0x${digits}`, 12, 8), kind: 'address', path: `/address/0x${digits}`, isCertain: true, note: checksumNote(`0x${digits}`) ?? undefined };
}

/** A note on an address whose letters do not match its checksum (EIP-55); otherwise `null`. */
export function checksumNote(hash: string): string | null {
  const digits = hash.slice(2);
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  return isMixed && checksum(hash) !== `0x${digits}` ? 'The checksum of this address is wrong (EIP-55): a digit may be wrong. Compare it with its source' : null;
}

function height(input: string): Guess | null {
  const decimal = /^#?\s*(\d{1,3}(?:[,_ ]\d{3})+|\d{1,15})$/.exec(input)?.[1]?.replace(/\D/g, '');
  const hexadecimal = /^0x[0-9a-f]{1,7}$/i.test(input) ? String(Number(input)) : undefined;
  const number = decimal ?? hexadecimal;
  return number === undefined ? null : { name: `Block ${group(BigInt(number).toString())}`, kind: 'block', path: `/block/${BigInt(number)}`, isCertain: true };
}

/** A hash as the topic of an event; whether it is that of a block or a transaction is for the API to say. */
function hash(input: string): Guess | null {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(input)?.[1]?.toLowerCase();
  return digits ? { name: `0x${digits.slice(0, 10)}…`, kind: 'as an event', path: `/tools?q=0x${digits}` } : null;
}

function date(input: string): Guess | null {
  const found = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?\s*(?:Z|UTC)?$/i.exec(input);
  if (!found) return null;
  const milliseconds = Date.parse(`${found[1]}T${found[2] ?? '00:00'}Z`);
  if (Number.isNaN(milliseconds)) return null;
  return { name: `The block at ${absolute(milliseconds / 1000)}`, kind: 'date', seconds: milliseconds / 1000, isCertain: true };
}

/** A selector, which may also be a height, or the declaration of a function or an event. */
function selector(input: string): Guess[] {
  const digits = /^0x([0-9a-f]{8})$/i.exec(input)?.[1] ?? /^(?=.*[a-f])([0-9a-f]{8})$/i.exec(input)?.[1];
  if (digits) {
    const functions: Guess = { name: `0x${digits.toLowerCase()}`, kind: 'function', path: `/tools?q=0x${digits.toLowerCase()}` };
    return input.startsWith('0x') ? [functions, { name: `Block ${count(Number(input))}`, kind: 'block', path: `/block/${Number(input)}` }] : [functions];
  }
  return /^[A-Za-z_$][\w$]*\(.*\)$/.test(input) ? [{ name: shortName(input, 40), kind: 'signature', path: `/tools?q=${encodeURIComponent(input)}`, isCertain: true }] : [];
}

/** Private names, and well-known tokens. */
function byName(input: string, { names, tokens }: Vocabulary): Guess[] {
  const words = input.toLowerCase();
  if (words.length < 2) return [];
  const ownNames = Object.entries(names).filter(([, name]) => name.toLowerCase().includes(words)).map(([hash, name]) => ({ name: shortName(name, 60), kind: 'private name', path: `/address/${hash}` }));
  const begins = (name: string) => name.toLowerCase().split(' ').some((_, index, all) => all.slice(index).join(' ').startsWith(words));
  const isMatch = ({ symbol, name }: KnownToken) => [symbol, name, TOKEN_NAMES[symbol.toUpperCase()] ?? ''].some(begins);
  const wellKnown = tokens.filter(isMatch).map(({ symbol, name, address }) => ({ name: `${name} (${symbol})`, kind: 'well-known token', path: `/token/${address}` }));
  return [...ownNames, ...wellKnown];
}

/** A part of a hash, by which nothing can be found. */
function partialHash(input: string): Guess | null {
  const digits = /^(?:0x)([0-9a-f]{9,63})$/i.exec(input)?.[1];
  if (!digits || digits.length === 40) return null;
  return { name: `${digits.length} hexadecimal digits`, kind: 'incomplete', note: 'An address has 40 hexadecimal digits, the hash of a block or a transaction 64. A part of one finds nothing' };
}
