// Amounts of coins and tokens: rounded in lists, with all digits on hover and on their own pages.
import { Fragment } from 'preact';
import { exact, short, sizeOf } from '../format/amount.ts';
import { shortHash, shortName } from '../format/hash.ts';
import { suspicionOf } from '../format/suspect.ts';
import { chain } from '../state/chain.ts';
import { knownTokens } from '../state/known_tokens.ts';
import { isSharedName } from '../state/address_names.ts';
import type { Token, TokenTransfer } from '../api/types.ts';
import { Copy } from './Copy.tsx';
import { Unknown } from './Unknown.tsx';

/** The longest group that fits a line of a phone: a token may have 255 decimals. */
const MAX_GROUP = 30;

/** All digits; lines may break between groups. */
function GroupedDigits({ text }: { text: string }) {
  return <>{text.split(/(?<=,)/).map((group, index) => <Fragment key={index}>{index > 0 && <wbr />}<span class={group.length > MAX_GROUP ? undefined : 'group'}>{group}</span></Fragment>)}</>;
}

/** An amount of the chain's coin, given in wei: rounded, or with all digits. */
export function Coins({ wei, signed, digits, whole }: { wei: string | null | undefined; signed?: boolean; digits?: number; whole?: boolean }) {
  if (wei === null || wei === undefined) return <Unknown />;
  const symbol = chain.value.symbol;
  const isTiny = !whole && wei !== '0' && wei.replace('-', '').length < 7;
  const sign = signed && !wei.startsWith('-') && wei !== '0' ? '+' : '';
  const all = exact(wei, 18);
  return (
    <span class={signed ? `amount ${wei.startsWith('-') ? 'less' : 'more'}` : 'amount'} title={`${all} ${symbol}\n${exact(wei, 0)} wei`}>
      {sign}{whole ? <GroupedDigits text={all} /> : isTiny ? exact(wei, 0) : (sizeOf(wei, 18) ?? short(wei, 18, digits))} <span class="unit">{isTiny ? 'wei' : symbol}</span>
      {whole && wei !== '0' && <> <Copy text={all.replaceAll(',', '')} what="amount" /></>}
    </span>
  );
}

/** A gas price in gwei, given in wei. */
export function Gwei({ wei, whole }: { wei: string | null | undefined; whole?: boolean }) {
  if (wei === null || wei === undefined) return <Unknown />;
  return <span class="amount" title={`${exact(wei, 0)} wei`}>{whole ? <GroupedDigits text={exact(wei, 9)} /> : short(wei, 9)} <span class="unit">gwei</span></span>;
}

export function TokenName({ token }: { token: Token }) {
  const name = token.symbol || token.name;
  const shown = name ? shortName(name, 18) : '';
  const suspicion = suspicionOf(token, chain.value, knownTokens());
  const isShared = name ? isSharedName(`token ${shown}`, token.address_hash) : false;
  const link = (
    <a class="token" href={`/token/${token.address_hash}`} data-address={token.address_hash.toLowerCase()}
      title={`${(token.name ?? 'A token without a name').slice(0, 200)}\n${token.address_hash}`}>
      {name ? <bdi>{shown}</bdi> : <span class="hash">{token.address_hash.slice(0, 8)}…{token.address_hash.slice(-4)}</span>}
      {name && (isShared || suspicion) && <span class="hash quiet"> {shortHash(token.address_hash, 6, 4)}</span>}
    </a>
  );
  return suspicion ? <span class="suspect"><span role="img" title={suspicion} aria-label={suspicion}>⚠</span> {link}</span> : link;
}

/** An amount of a token; in its smallest units, marked as such, if its decimals are not known. */
export function Units({ value, decimals, signed, whole }: { value: string | null | undefined; decimals: string | null | undefined; signed?: boolean; whole?: boolean }) {
  if (value === null || value === undefined) return <Unknown />;
  const sign = signed && !value.startsWith('-') && value !== '0' ? '+' : '';
  const tone = signed ? ` ${value.startsWith('-') ? 'less' : 'more'}` : '';
  const decimalPlaces = decimals === null || decimals === undefined ? 0 : Number(decimals);
  const unit = decimals === null || decimals === undefined ? 'smallest units: the decimals of the token are not known' : '';
  return (
    <span class={`amount${tone}`} title={`${exact(value, decimalPlaces)}${unit && `\n${unit}`}`}>
      {sign}{whole ? <GroupedDigits text={exact(value, decimalPlaces)} /> : (sizeOf(value, decimalPlaces) ?? short(value, decimalPlaces))}{unit && <span class="unit" aria-label={unit}> units</span>}
      {whole && value !== '0' && <> <Copy text={exact(value, decimalPlaces).replaceAll(',', '')} what="amount" /></>}
    </span>
  );
}

/** What a transfer moved: an amount, an id, or an amount of an id. */
export function TransferAmount({ transfer, whole }: { transfer: Pick<TokenTransfer, 'total' | 'token'> & { token_type?: string }; whole?: boolean }) {
  const { total, token } = transfer;
  if (!total) return <><Unknown /> <TokenName token={token} /></>;
  const id = total.token_id ?? null;
  const isOne = id !== null && (total.value === undefined || total.value === null);
  return (
    <span class="moved">
      {!isOne && <Units value={total.value} decimals={id === null ? total.decimals : '0'} whole={whole} />} {' '}
      <TokenName token={token} />
      {id !== null && <> <a class="id" href={`/token/${token.address_hash}/instance/${id}`} title={id}>#{id.length > 14 ? `${id.slice(0, 6)}…${id.slice(-4)}` : id}</a></>}
    </span>
  );
}
