// What a text in the search box may mean, before anything is asked: addresses, heights, hashes, dates, selectors, names.
import { count, group } from './amount.ts';
import { shortHash, shortName } from './hash.ts';
import { checksum } from './keccak.ts';
import { absolute } from './time.ts';

export interface Guess {
  name: string;
  kind: string;
  /** Where it leads; a time leads to the block that was the newest then. */
  path?: string;
  seconds?: number;
  /** What to know of it. */
  note?: string;
  /** It can mean nothing else. */
  isCertain?: boolean;
}

/** Names by which people look for well-known tokens, besides their symbols. */
const TOKEN_NAMES: Record<string, string> = {
  USDT: 'Tether USD', USDC: 'USD Coin', WETH: 'Wrapped Ether', WBTC: 'Wrapped Bitcoin', DAI: 'Dai Stablecoin', LINK: 'ChainLink', UNI: 'Uniswap', STETH: 'Lido Staked Ether', WSTETH: 'Wrapped Lido Staked Ether',
  SHIB: 'Shiba Inu', AAVE: 'Aave', MKR: 'Maker', LDO: 'Lido DAO', CRV: 'Curve DAO', ARB: 'Arbitrum', OP: 'Optimism', PEPE: 'Pepe', ENS: 'Ethereum Name Service', COMP: 'Compound', FRAX: 'Frax',
};

export interface Vocabulary { names: Record<string, string>; tokens: { symbol: string; address: string }[] }

const MOST = 6;

/** All that a text may mean, the most certain first. */
export function guessesOf(text: string, vocabulary: Vocabulary): Guess[] {
  const typed = text.trim();
  if (!typed) return [];
  const found = [address(typed), height(typed), hash(typed), date(typed), ...selector(typed), ...named(typed, vocabulary), cut(typed)];
  return found.filter((guess) => guess !== null).slice(0, MOST);
}

function address(typed: string): Guess | null {
  const digits = /^(?:0x)?([0-9a-f]{40})$/i.exec(typed)?.[1];
  if (!digits) return null;
  return { name: shortHash(`0x${digits}`, 12, 8), kind: 'address', path: `/address/0x${digits}`, isCertain: true, note: checksumNote(`0x${digits}`) ?? undefined };
}

/** What is wrong with the letters of an address; `null` where they fit, or say nothing. */
export function checksumNote(hash: string): string | null {
  const digits = hash.slice(2);
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  return isMixed && checksum(hash) !== `0x${digits}` ? 'The capital letters of this address do not fit it (EIP-55): a digit may be wrong. Compare it with where it comes from' : null;
}

function height(typed: string): Guess | null {
  const decimal = /^#?\s*(\d{1,3}(?:[,_ ]\d{3})+|\d{1,15})$/.exec(typed)?.[1]?.replace(/\D/g, '');
  const hexadecimal = /^0x[0-9a-f]{1,7}$/i.test(typed) ? String(Number(typed)) : undefined;
  const number = decimal ?? hexadecimal;
  return number === undefined ? null : { name: `Block ${group(BigInt(number).toString())}`, kind: 'block', path: `/block/${BigInt(number)}`, isCertain: true };
}

/** Whether of a block or a transaction the API has to say. */
function hash(typed: string): Guess | null {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(typed)?.[1]?.toLowerCase();
  return digits ? { name: `0x${digits.slice(0, 10)}… as an event`, kind: 'event', path: `/tools?q=0x${digits}` } : null;
}

function date(typed: string): Guess | null {
  const found = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?\s*(?:Z|UTC)?$/i.exec(typed);
  if (!found) return null;
  const milliseconds = Date.parse(`${found[1]}T${found[2] ?? '00:00'}Z`);
  if (Number.isNaN(milliseconds)) return null;
  return { name: `The block at ${absolute(milliseconds / 1000)}`, kind: 'date', seconds: milliseconds / 1000, isCertain: true };
}

/** A selector, which may be a height too, and declarations of functions and events. */
function selector(typed: string): Guess[] {
  const digits = /^0x([0-9a-f]{8})$/i.exec(typed)?.[1] ?? /^(?=.*[a-f])([0-9a-f]{8})$/i.exec(typed)?.[1];
  if (digits) {
    const functions: Guess = { name: `0x${digits.toLowerCase()}`, kind: 'function', path: `/tools?q=0x${digits.toLowerCase()}` };
    return typed.startsWith('0x') ? [functions, { name: `Block ${count(Number(typed))}`, kind: 'block', path: `/block/${Number(typed)}` }] : [functions];
  }
  return /^[A-Za-z_$][\w$]*\(.*\)$/.test(typed) ? [{ name: shortName(typed, 40), kind: 'signature', path: `/tools?q=${encodeURIComponent(typed)}`, isCertain: true }] : [];
}

/** The reader's own names, and well-known tokens. */
function named(typed: string, { names, tokens }: Vocabulary): Guess[] {
  const words = typed.toLowerCase();
  if (words.length < 2) return [];
  const own = Object.entries(names).filter(([, name]) => name.toLowerCase().includes(words)).map(([hash, name]) => ({ name: shortName(name, 60), kind: 'your name', path: `/address/${hash}` }));
  const begins = (name: string) => name.toLowerCase().split(' ').some((_, index, all) => all.slice(index).join(' ').startsWith(words));
  const isMeant = ({ symbol }: Vocabulary['tokens'][number]) => symbol.toLowerCase().startsWith(words) || begins(TOKEN_NAMES[symbol.toUpperCase()] ?? '');
  const known = tokens.filter(isMeant).map(({ symbol, address }) => ({ name: `${TOKEN_NAMES[symbol.toUpperCase()] ?? symbol} (${symbol})`, kind: 'well-known token', path: `/token/${address}` }));
  return [...own, ...known];
}

/** The first digits of something longer, of which nothing can be found. */
function cut(typed: string): Guess | null {
  const digits = /^(?:0x)([0-9a-f]{9,63})$/i.exec(typed)?.[1];
  if (!digits || digits.length === 40) return null;
  return { name: `${digits.length} hexadecimal digits`, kind: 'nothing', note: 'An address has 40 hexadecimal digits, the hash of a block or a transaction 64. Nothing is found by the first of them alone' };
}
