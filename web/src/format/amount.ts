// Amounts as people read them. Whole numbers go in as decimal digits, and nothing passes through a float.

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
 * The same amount in few digits: cut, never rounded up, and with at least `significant` digits behind zeros.
 * What was cut off is for the tooltip.
 */
export function short(value: string | bigint, decimals: number, significant = 4): string {
  const all = exact(value, decimals);
  const [whole = '0', rest = ''] = all.split('.');
  if (!rest) return whole;
  const digits = whole.replace(/[-,]/g, '').replace(/^0+/, '').length;
  const zeros = /^0*/.exec(rest)?.[0].length ?? 0;
  const places = digits > 0 ? Math.max(2, significant + 2 - digits) : zeros + significant;
  const kept = rest.slice(0, places).replace(/0+$/, '');
  return kept ? `${whole}.${kept}` : whole;
}

/** A count such as 12,345; what is not known is null. */
export function count(value: number | string | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return group(String(value));
}

/** A number of bytes, as 1.5 MB. */
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

/** A share of 1 as percent: small shares keep two digits, and only what is whole is 100 %. */
export function percent(share: number): string {
  if (share >= 1) return '100 %';
  if (share <= 0) return '0 %';
  const value = share * 100;
  if (value > 99.99) return '> 99.99 %';
  if (value < 0.01) return '< 0.01 %';
  return `${value.toFixed(2)} %`;
}
