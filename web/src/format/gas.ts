// Gas prices, and what usual transactions cost at them.

/** The answer of `eth_feeHistory`: one base fee more than blocks, that of the next block. */
export interface FeeHistory { oldestBlock: string; baseFeePerGas: string[]; gasUsedRatio: (number | null)[]; reward?: (string[] | null)[] | null }

export interface FeePoint { height: number; baseFee: number; fullness: number | null; tips: (number | null)[] }

const gwei = (hex: string) => Number(BigInt(hex)) / 1e9;

/** The base fee of the next block in wei; `null` on chains and in blocks without base fees. */
export function nextBaseFee({ baseFeePerGas }: FeeHistory): bigint | null {
  const last = baseFeePerGas.at(-1);
  return last === undefined || baseFeePerGas.every((fee) => BigInt(fee) === 0n) ? null : BigInt(last);
}

/** The blocks of a history, the oldest first: base fee and priority fees in gwei, how full they were in percent. A block without transactions has no priority fees. */
export function pointsOf({ oldestBlock, baseFeePerGas, gasUsedRatio, reward }: FeeHistory): FeePoint[] {
  return gasUsedRatio.map((ratio, index) => ({
    height: Number(oldestBlock) + index,
    baseFee: gwei(baseFeePerGas[index] ?? '0x0'),
    fullness: ratio === null ? null : ratio * 100,
    tips: ratio === 0 ? [null, null, null] : [0, 1, 2].map((at) => (reward?.[index]?.[at] ? gwei(reward[index][at]) : null)),
  }));
}

/** Usual transactions with the gas that they use, in round numbers. */
export const USUAL: readonly (readonly [string, number])[] = [['Transfer of the coin', 21_000], ['Approval of a token', 46_000], ['Transfer of a token', 65_000], ['Swap of two tokens', 150_000], ['Deployment of a contract', 1_500_000]];

/** The cost in wei at a price in gwei, which may have digits after the point. */
export const costOf = (gas: number, price: number): string => (BigInt(Math.round(price * 1e9)) * BigInt(gas)).toString();
