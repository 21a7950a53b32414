// A parameter or result of a call in one line: addresses by name, token amounts in their unit, long data truncated.
import type { AddressRef, Token } from '../api/types.ts';
import { group, sizeOf } from '../format/amount.ts';
import { isAddress, shortName, visible } from '../format/hash.ts';
import { plain } from '../format/trace/reason.ts';
import { Address } from './Address.tsx';
import { Units } from './Amount.tsx';

interface Props {
  type: string;
  value: unknown;
  /** Addresses with their names, by lower-case hash. */
  addresses?: Map<string, AddressRef>;
  /** The token whose amount the value is. */
  token?: Token | null;
}

const MAX_LENGTH = 42;

export function Argument({ type, value, addresses, token }: Props) {
  if (type === 'address' && typeof value === 'string' && isAddress(value)) return <Address of={addresses?.get(value.toLowerCase()) ?? { hash: value }} />;
  if (/^u?int\d*$/.test(type) && typeof value === 'string') {
    if (token && token.decimals !== null) return <span><Units value={value} decimals={token.decimals} /> <span class="unit">{shortName(token.symbol ?? '', 12)}</span></span>;
    return <span class="amount" title={group(value)}>{sizeOf(value, 0) ?? group(value)}</span>;
  }
  const text = typeof value === 'string' ? (type === 'string' ? JSON.stringify(visible(value)) : value) : visible(plain(value));
  const isBytes = type.startsWith('bytes') && typeof value === 'string';
  if (text.length <= MAX_LENGTH) return <span class="value">{text}</span>;
  return <span class="value" title={text.slice(0, 500)}>{isBytes ? `${text.slice(0, 18)}… (${group(String((text.length - 2) / 2))} bytes)` : `${text.slice(0, MAX_LENGTH)}…`}</span>;
}
