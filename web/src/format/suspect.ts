// Signs that a token imitates another one, or advertises a site. A warning is a hint to compare the contract, never a verdict.
import { INVISIBLE } from './hash.ts';

/** Symbols of well-known tokens with their contracts by chain: those of crates/json/src/tokens/known_tokens.txt, which a test compares. */
export const WELL_KNOWN = `
1INCH 1:111111111117dc0aa78b770fa6a738034120c302
AAVE 1:7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9
APE 1:4d224452801aced8b2f0aebe155379bb5d594381
ARB 42161:912ce59144191c1204e64559fe8253a0e49e6548
BAT 1:0d8775f648430679a709e98d2b0cb6250d2887ef
cbETH 1:be9895146f7af43049ca1c1ae358b0541ea49704
COMP 1:c00e94cb662c3520282e6f5717214004a7f26888
CRV 1:d533a949740bb3306d119cc777fa900ba034cd52
DAI 1:6b175474e89094c44da98b954eedeac495271d0f
ENS 1:c18360217d8f7ab5e7c516566761ea12ce7f9d72
FRAX 1:853d955acef822db058eb8505911ed77f175b99e
GRT 1:c944e90c64b2c07662a292be6244bdf05cda44a7
LDO 1:5a98fcbea516cf06857215779fd812ca3bef1b32
LINK 1:514910771af9ca656af840dff83e8264ecf986ca
MATIC 1:7d1afa7b718fb893db30a3abc0cfc608aacfebb0
MKR 1:9f8f72aa9304c8b593d555f12ef6589cc3a579a2
OP 10:4200000000000000000000000000000000000042
PEPE 1:6982508145454ce325ddbe47a25d4ec3d2311933
rETH 1:ae78736cd615f374d3085123a210448e74fc6393
SHIB 1:95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce
SNX 1:c011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f
stETH 1:ae7ab96520de3a18e5e111b5eaab095312d7fe84
SUSHI 1:6b3595068778dd592e39a122f4f5a5cf09c90fe2
UNI 1:1f9840a85d5af5bf1d1762f925bdaddc4201f984
USDC 1:a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 10:0b2c639c533813f4aa9d7837caf62653d097ff85 137:3c499c542cef5e3811e1192ce70d8cc03d5c3359 8453:833589fcd6edb6e08f4c7c32d4f71b54bda02913 42161:af88d065e77c8cc2239327c5edb3a432268e5831
USDT 1:dac17f958d2ee523a2206206994597c13d831ec7
WBNB 56:bb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c
WBTC 1:2260fac5e5542a773aa44fbcfedf7c193bc2c599
WETH 1:c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2 10:4200000000000000000000000000000000000006 137:7ceb23fd6bc0add59e62ac25578270cff1b9f619 8453:4200000000000000000000000000000000000006 42161:82af49447d8a07e3bd95bd0d56f35241523fbab1
wstETH 1:7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0
WXDAI 100:e91d153e0b41518a2ce8dd3d7944fa863463a97d
YFI 1:0bc529c00c6401aef6d220be8c6ea1667f6ad93e
`;

const contractsBySymbol = new Map(WELL_KNOWN.trim().split('\n').map((line) => {
  const [symbol = '', ...contracts] = line.split(' ');
  return [symbol.toUpperCase(), contracts] as const;
}));

/** The well-known tokens of a chain. */
export function tokensOf(chain: number | null): { symbol: string; address: string }[] {
  const own = (contracts: readonly string[]) => contracts.find((contract) => contract.startsWith(`${chain}:`))?.split(':')[1];
  return [...contractsBySymbol].flatMap(([symbol, contracts]) => {
    const address = own(contracts);
    return address ? [{ symbol, address: `0x${address}` }] : [];
  });
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
interface ChainCoin { id: number | null; symbol: string }

/** Why a token is suspicious by its names; otherwise `null`. */
export function suspicionOf({ name, symbol, address_hash: address }: TokenNames, chain: ChainCoin): string | null {
  const texts = [name ?? '', symbol ?? ''].map((text) => text.slice(0, 200));
  if (texts.some((text) => WEB.test(text))) return 'Its name contains a web address: do not visit it';
  if (texts.some((text) => INVISIBLE.test(text))) return 'Its name has invisible characters';
  if (texts.some((text) => SCRIPTS.filter((script) => script.test(text)).length > 1)) return 'Its name mixes letters of several scripts that look alike';
  const like = folded(symbol ?? '');
  if (like === '') return null;
  const contracts = contractsBySymbol.get(like);
  if (contracts?.includes(`${chain.id}:${address.slice(2).toLowerCase()}`)) return null;
  if (contracts) return `It has the symbol of the well-known ${like}, but is another contract`;
  return like === folded(chain.symbol) && like !== 'COINS' ? `It has the symbol of the coin of the chain, ${chain.symbol}` : null;
}
