// Amounts of coins and tokens: few digits with the unit, all of them on hover.
import { exact, short } from '../format/amount.ts';
import { shortName } from '../format/hash.ts';
import { chain } from '../state/chain.ts';
import type { Token, TokenTransfer } from '../api/types.ts';
import { Unknown } from './Unknown.tsx';

/** An amount of the chain's coin, in wei; with more digits where amounts that differ little are to be told apart. */
export function Coins({ wei, signed, digits }: { wei: string | null | undefined; signed?: boolean; digits?: number }) {
  if (wei === null || wei === undefined) return <Unknown />;
  const symbol = chain.value.symbol;
  const isTiny = wei !== '0' && wei.replace('-', '').length < 7;
  const sign = signed && !wei.startsWith('-') && wei !== '0' ? '+' : '';
  return (
    <span class={signed ? `amount ${wei.startsWith('-') ? 'less' : 'more'}` : 'amount'} title={`${exact(wei, 18)} ${symbol}\n${exact(wei, 0)} wei`}>
      {sign}{isTiny ? exact(wei, 0) : short(wei, 18, digits)} <span class="unit">{isTiny ? 'wei' : symbol}</span>
    </span>
  );
}

/** A price of gas: wei in, gwei shown. */
export function Gwei({ wei }: { wei: string | null | undefined }) {
  if (wei === null || wei === undefined) return <Unknown />;
  return <span class="amount" title={`${exact(wei, 0)} wei`}>{short(wei, 9)} <span class="unit">gwei</span></span>;
}

export function TokenName({ token }: { token: Token }) {
  const name = token.symbol || token.name;
  return (
    <a class="token" href={`/token/${token.address_hash}`} data-address={token.address_hash.toLowerCase()}
      title={`${(token.name ?? 'A token without a name').slice(0, 200)}\n${token.address_hash}`}>
      {name ? <bdi>{shortName(name, 18)}</bdi> : <span class="hash">{token.address_hash.slice(0, 8)}…{token.address_hash.slice(-4)}</span>}
    </a>
  );
}

/** A number of token units; without decimals in smallest units, and it says so. */
export function Units({ value, decimals, signed }: { value: string | null | undefined; decimals: string | null | undefined; signed?: boolean }) {
  if (value === null || value === undefined) return <Unknown />;
  const sign = signed && !value.startsWith('-') && value !== '0' ? '+' : '';
  const tone = signed ? ` ${value.startsWith('-') ? 'less' : 'more'}` : '';
  const places = decimals === null || decimals === undefined ? 0 : Number(decimals);
  const unit = decimals === null || decimals === undefined ? 'smallest units: the decimals of the token are not known' : '';
  return (
    <span class={`amount${tone}`} title={`${exact(value, places)}${unit && `\n${unit}`}`}>
      {sign}{shortened(short(value, places))}{unit && <span class="unit" aria-label={unit}> units</span>}
    </span>
  );
}

/** Numbers with more digits than a line has are cut in the middle; the whole is in the tooltip. */
const shortened = (text: string) => (text.length > 30 ? `${text.slice(0, 16)}…${text.slice(-8)}` : text);

/** What a transfer moved: an amount, an id, or so many of an id. */
export function Moved({ transfer }: { transfer: Pick<TokenTransfer, 'total' | 'token'> & { token_type?: string } }) {
  const { total, token } = transfer;
  if (!total) return <><Unknown /> <TokenName token={token} /></>;
  const id = total.token_id ?? null;
  const isOne = id !== null && (total.value === undefined || total.value === null);
  return (
    <span class="moved">
      {!isOne && <Units value={total.value} decimals={id === null ? total.decimals : '0'} />} {' '}
      <TokenName token={token} />
      {id !== null && <> <a class="id" href={`/token/${token.address_hash}/instance/${id}`} title={id}>#{id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-4)}` : id}</a></>}
    </span>
  );
}
