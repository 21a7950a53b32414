// Why a call failed, as text: the meanings of Solidity's Error and Panic, and custom errors with their parameters.
import type { DecodedData, RevertReason } from '../../api/types.ts';
import { bytesOf, textOf, visible } from '../hash.ts';

/** https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const PANICS: Record<string, string> = {
  0x00: 'generic compiler panic', 0x01: 'an assertion is false', 0x11: 'arithmetic underflow or overflow', 0x12: 'division or modulo by zero',
  0x21: 'no such value of an enum', 0x22: 'a byte array in storage is encoded wrongly', 0x31: 'pop of an empty array', 0x32: 'index out of bounds',
  0x41: 'too much memory or too large an array', 0x51: 'call of a function variable that is not set',
};
const ERROR = '0x08c379a0';
const PANIC = '0x4e487b71';
const EMPTY = 'an empty text';
const MAX_LENGTH = 300;

/** A value as text: lists in brackets, strings of more than one word in quotes. */
export function plain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plain).join(', ')}]`;
  return typeof value === 'string' && /^[\w.-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Whether an error of a node says that a call reverted, and no more. */
export const isBareRevert = (error: string) => /^(execution )?reverted$/i.test(error);

/** The revert reason in one line; null if nothing was returned. */
export function reasonText(reason: RevertReason | null | undefined): string | null {
  if (!reason) return null;
  const text = 'raw' in reason ? rawText(reason.raw) : errorText(reason);
  return visible(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}

/**
 * Returned data that the server did not decode. A selector, alone or with whole words, is that of an error, also if its bytes are letters.
 */
function rawText(raw: string): string {
  const [id, words] = [raw.slice(0, 10), raw.slice(10)];
  if (id === PANIC && words.length === 64) return panicText(String(Number(`0x${words}`)));
  if (id === ERROR && words.length >= 128) return new TextDecoder().decode(bytesOf(words.slice(128, 128 + 2 * Number(`0x${words.slice(64, 128)}`)))) || EMPTY;
  if (raw.length % 64 === 10) return `custom error ${id}`;
  return textOf(raw) ?? raw;
}

const panicText = (code: string) => `Panic 0x${Number(code).toString(16).padStart(2, '0')}: ${PANICS[code] ?? 'unknown code'}`;

function errorText({ method_call: call, method_id: id, parameters }: DecodedData): string {
  const first = String(parameters[0]?.value ?? '');
  if (id === ERROR) return first || EMPTY;
  if (id === PANIC) return panicText(first);
  return `${call.split('(')[0]}(${parameters.map((parameter) => plain(parameter.value)).join(', ')})`;
}
