// Amounts of coins in wei, gwei and whole coins, exactly.
import { exact } from './amount.ts';

export const UNITS = [['wei', 0], ['gwei', 9], ['coins', 18]] as const;

/** A decimal amount in a unit with a number of decimals, in wei; `null` if it is not one. */
export function weiOf(text: string, digits: number): bigint | null {
  const found = /^(\d*)(?:\.(\d*))?$/.exec(text.replace(/[,_\s]/g, ''));
  const [whole = '', rest = ''] = [found?.[1], found?.[2]];
  if (!found || whole + rest === '' || rest.replace(/0+$/, '').length > digits) return null;
  return BigInt(whole || '0') * 10n ** BigInt(digits) + BigInt(rest.slice(0, digits).padEnd(digits, '0') || '0');
}

/** The amount in a unit, without digit groups, as an input field takes it. */
export const inUnit = (wei: bigint, digits: number) => exact(wei, digits).replaceAll(',', '');
