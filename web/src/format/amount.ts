// Amounts as text. Whole numbers are given as decimal digits, and are never converted to floats.

/** All digits of a whole number divided by 10^decimals, without zeros at the end. */
export function exact(value: string | bigint, decimals: number): string {
  const amount = BigInt(value);
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = decimals ? digits.slice(-decimals).replace(/0+$/, '') : '';
  return sign + group(whole) + (rest && `.${rest}`);
}

/** Digits of a whole number in groups of three. */
export function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * The same amount rounded, with at least `significant` digits after leading zeros. Pages of a single object show all digits.
 */
export function short(value: string | bigint, decimals: number, significant = 4): string {
  const all = exact(value, decimals);
  const [whole = '0', rest = ''] = all.split('.');
  if (!rest) return whole;
  const digits = whole.replace(/[-,]/g, '').replace(/^0+/, '').length;
  const zeros = /^0*/.exec(rest)?.[0].length ?? 0;
  const decimalPlaces = digits > 0 ? Math.max(2, significant + 2 - digits) : zeros + significant;
  if (decimalPlaces >= rest.length) return all;
  const unit = 10n ** BigInt(decimals - decimalPlaces);
  const amount = BigInt(value);
  const rounded = ((amount < 0n ? -amount : amount) + unit / 2n) / unit;
  return exact(amount < 0n ? -rounded : rounded, decimalPlaces);
}

const MAX_UINT256 = (1n << 256n) - 1n;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** The most digits of a whole number that lists write out. */
const MAX_DIGITS = 21;

/** Numbers that are too long for a line in scientific notation: `1.158 × 10⁷⁷`; otherwise `null`. */
export function sizeOf(value: string | bigint, decimals: number): string | null {
  const amount = BigInt(value);
  if (amount === MAX_UINT256) return 'max uint256';
  const digits = (amount < 0n ? -amount : amount).toString();
  const exponent = digits.length - 1 - decimals;
  if (exponent < MAX_DIGITS) return null;
  const [first = '', ...rest] = (BigInt(digits.slice(0, 5)) + 5n).toString();
  // Rounding up may add a digit.
  const power = String(exponent + (rest.length > 4 ? 1 : 0)).replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '');
  return `${amount < 0n ? '-' : ''}${first}.${rest.slice(0, 3).join('')} × 10${power}`;
}

/** A count such as 12,345; null if it is not known. */
export function count(value: number | string | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return group(String(value));
}

/** A sentence of the API with the digits of its whole numbers in groups, such as heights of blocks. */
export function withGroups(sentence: string): string {
  return sentence.replace(/(?<![\w.])\d{5,}(?![\w.]*\w)/g, group);
}

/** A size such as 1.5 MB. */
export function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let rest = value;
  let unit = 0;
  while (rest >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? rest : rest.toFixed(rest < 10 ? 1 : 0)} ${units[unit]}`;
}

/** A share as a percentage with two decimals; only a whole is 100 %, and only nothing is 0 %. */
export function percent(share: number): string {
  if (share >= 1) return '100 %';
  if (share <= 0) return '0 %';
  const value = share * 100;
  if (value > 99.99) return '> 99.99 %';
  if (value < 0.01) return '< 0.01 %';
  return `${value.toFixed(2)} %`;
}
