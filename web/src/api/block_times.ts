// Blocks by time, and the nearest loaded block below a height.
import type { Block, Page } from './types.ts';
import { getJson } from './request.ts';

interface Answer { status: string; message: string; result: { blockNumber?: string } | string }

async function closest(seconds: number, side: 'before' | 'after'): Promise<number | null> {
  const { status, result } = await getJson<Answer>(`/api?module=block&action=getblocknobytime&timestamp=${seconds}&closest=${side}`);
  const height = typeof result === 'string' ? result : result?.blockNumber;
  return status === '1' && height !== undefined && /^\d+$/.test(height) ? Number(height) : null;
}

/** The newest block at a time, else the first one after it; `null` if neither is loaded. */
export async function blockAt(seconds: number, sides: readonly ('before' | 'after')[] = ['before', 'after']): Promise<number | null> {
  for (const side of sides) {
    const height = await closest(seconds, side).catch(() => null);
    if (height !== null) return height;
  }
  return null;
}

/** The path of the highest loaded block at or below a height. */
export const belowPath = (height: number) => `/api/v2/blocks?block_number=${height + 1}&items_count=1`;
export type Below = Page<Block>;
