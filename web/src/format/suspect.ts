// Signs that a token imitates another one, or advertises a site. A warning is a hint to compare the contract, never a verdict.
import { INVISIBLE } from './hash.ts';

/** A token of a bundled list. */
export interface KnownToken { address: string; symbol: string; name: string }

/** Symbols that people know tokens by. Others are shared by many tokens that imitate none. */
const FAMOUS = new Set('1INCH AAVE APE ARB BAT CBBTC CBETH COMP CRV DAI ENS FRAX GHO GRT LDO LINK MATIC MKR OP PEPE PYUSD RETH SHIB SNX STETH SUSHI TUSD UNI USDC USDP USDS USDT WBNB WBTC WETH WSTETH WXDAI YFI'.split(' '));

/** The well-known tokens of a chain. */
export class KnownTokens {
  readonly all: readonly KnownToken[];
  private readonly bySymbol = new Map<string, string[]>();
  private readonly addresses: Set<string>;

  constructor(all: readonly KnownToken[]) {
    this.all = all;
    this.addresses = new Set(all.map(({ address }) => address.toLowerCase()));
    for (const { symbol, address } of all) this.bySymbol.set(folded(symbol), [...this.bySymbol.get(folded(symbol)) ?? [], address.toLowerCase()]);
  }

  has(address: string): boolean {
    return this.addresses.has(address.toLowerCase());
  }

  /** Whether a contract bears the symbol of a famous token that has other contracts on this chain. */
  isImitation(symbol: string, address: string): boolean {
    const contracts = FAMOUS.has(symbol) ? this.bySymbol.get(symbol) : undefined;
    return contracts !== undefined && !contracts.includes(address.toLowerCase());
  }
}

/** Letters of other scripts that look like these (https://www.unicode.org/reports/tr39/#confusables). */
const ALIKE: Record<string, string> = {
  А: 'A', В: 'B', Е: 'E', Ѕ: 'S', І: 'I', Ј: 'J', К: 'K', М: 'M', Н: 'H', О: 'O', Р: 'P', С: 'C', Т: 'T', У: 'Y', Х: 'X', Ԁ: 'D', Ԍ: 'G', Ꮯ: 'C', Ꭲ: 'T', Ү: 'Y',
  Α: 'A', Β: 'B', Ε: 'E', Ζ: 'Z', Η: 'H', Ι: 'I', Κ: 'K', Μ: 'M', Ν: 'N', Ο: 'O', Ρ: 'P', Τ: 'T', Υ: 'Y', Χ: 'X', Ϲ: 'C', Ꮪ: 'S', Ս: 'U', Տ: 'S', Ց: 'B', '₮': 'T', '₿': 'B', Ð: 'D', Ł: 'L',
};

/** The Latin letters and digits that a text resembles. */
export function folded(text: string): string {
  const letters = Array.from(text.normalize('NFKD').toUpperCase());
  return letters.map((letter) => ALIKE[letter] ?? letter).join('').replace(/[^A-Z0-9]/g, '');
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u];
const WEB = /https?:|www\.|t\.me\/|[a-z0-9-]\s?\.\s?(com|xyz|io|org|net|app|gift|gifts|top|site|vip|live|finance|claims?|cc|fi|pro|fun|lol|me|ly|us|ru|cn|co|info|click|link)\b/i;

interface TokenNames { name: string | null; symbol: string | null; address_hash: string }
interface ChainCoin { symbol: string }

/** Why a token is suspicious by its names; otherwise `null`. A symbol says nothing on a chain without such a well-known token. */
export function suspicionOf({ name, symbol, address_hash: address }: TokenNames, chain: ChainCoin, known: KnownTokens): string | null {
  if (known.has(address)) return null;
  const texts = [name ?? '', symbol ?? ''].map((text) => text.slice(0, 200));
  if (texts.some((text) => WEB.test(text))) return 'Its name contains a web address: do not visit it';
  if (texts.some((text) => INVISIBLE.test(text))) return 'Its name has invisible characters';
  if (texts.some((text) => SCRIPTS.filter((script) => script.test(text)).length > 1)) return 'Its name mixes letters of several scripts that look alike';
  const like = folded(symbol ?? '');
  if (like === '') return null;
  if (known.isImitation(like, address)) return `It has the symbol of the well-known ${like}, but is another contract`;
  return like === folded(chain.symbol) && like !== 'COINS' ? `It has the symbol of the coin of the chain, ${chain.symbol}` : null;
}
