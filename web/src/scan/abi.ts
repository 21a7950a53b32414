// Declarations of events, from the entries of an ABI.
import type { AbiEntry, AbiInput } from '../format/abi.ts';

interface EventInput extends AbiInput { indexed?: boolean }

const typeOf = (input: AbiInput): string => (input.type.startsWith('tuple') ? `(${(input.components ?? []).map(typeOf).join(',')})${input.type.slice(5)}` : input.type);

/** `Transfer(address indexed from, …)`. */
export function eventOf(entry: AbiEntry): string {
  const inputs = (entry.inputs ?? []) as EventInput[];
  return `${entry.name ?? ''}(${inputs.map((input) => [typeOf(input), input.indexed && 'indexed', input.name].filter(Boolean).join(' ')).join(', ')})`;
}
