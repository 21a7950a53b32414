// Targets of a jump in a list: a block, the end of a day, or a time in UTC.
import { guessesOf } from './query.ts';

/** A height, or a time in seconds since 1970; `null` for other texts. */
export function blockOf(text: string): { block: number; seconds?: undefined } | { seconds: number } | null {
  const guess = guessesOf(text, { names: {}, tokens: [] }).find((one) => one.isCertain);
  if (guess?.seconds !== undefined) return { seconds: /^\s*\d{4}-\d{2}-\d{2}\s*$/.test(text) ? guess.seconds + 86_399 : guess.seconds };
  const height = /^\/block\/(\d+)$/.exec(guess?.path ?? '')?.[1];
  return height === undefined ? null : { block: Number(height) };
}

/** Cursors of the API that start a list at a block, the newest items first. */
export const CURSORS = {
  blocks: (block: number) => `block_number=${block + 1}`,
  transactions: (block: number) => `block_number=${block + 1}&index=0`,
  /** The same for the oldest items first. */
  transactionsFrom: (block: number) => `block_number=${block}&index=-1`,
  transfers: (block: number) => `block_number=${block + 1}&index=0`,
  logs: (block: number) => `block_number=${block + 1}&index=0`,
  calls: (block: number) => `block_number=${block + 1}&transaction_index=0&index=0`,
} as const;
