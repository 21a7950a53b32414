// A parameter or result of a call in a line: an address by its name, an amount of a token in its unit, and long data cut.
import type { AddressRef, Token } from '../api/types.ts';
import { group, sizeOf } from '../format/amount.ts';
import { isAddress, shortName, visible } from '../format/hash.ts';
import { plain } from '../format/trace/reason.ts';
import { Address } from './Address.tsx';
import { Units } from './Amount.tsx';

interface Props {
  type: string;
  value: unknown;
  /** What is known of addresses, by their lower-case digits. */
  known?: Map<string, AddressRef>;
  /** The token that it is an amount of. */
  token?: Token | null;
}

const MOST = 42;

export function Argument({ type, value, known, token }: Props) {
  if (type === 'address' && typeof value === 'string' && isAddress(value)) return <Address of={known?.get(value.toLowerCase()) ?? { hash: value }} />;
  if (/^u?int\d*$/.test(type) && typeof value === 'string') {
    if (token && token.decimals !== null) return <span><Units value={value} decimals={token.decimals} /> <span class="unit">{shortName(token.symbol ?? '', 12)}</span></span>;
    return <span class="amount" title={group(value)}>{sizeOf(value, 0) ?? group(value)}</span>;
  }
  const text = typeof value === 'string' ? (type === 'string' ? JSON.stringify(visible(value)) : value) : visible(plain(value));
  const isBytes = type.startsWith('bytes') && typeof value === 'string';
  if (text.length <= MOST) return <span class="value">{text}</span>;
  return <span class="value" title={text.slice(0, 500)}>{isBytes ? `${text.slice(0, 18)}… (${group(String((text.length - 2) / 2))} bytes)` : `${text.slice(0, MOST)}…`}</span>;
}
