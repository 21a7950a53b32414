// The loaded block before or after another one. In stores with gaps that need not be the next height.
import { type Below, belowPath, blockAt } from './block_times.ts';
import { getJson } from './request.ts';
import type { Block } from './types.ts';

/** The next loaded height below, or the nearest one above; `fallback`, the height beside, if none is found. */
export async function loadedNeighbour(block: { height: number; timestamp: string | null }, side: 'below' | 'above'): Promise<number> {
  const fallback = block.height + (side === 'below' ? -1 : 1);
  try {
    if (side === 'below') return (await getJson<Below>(belowPath(fallback))).items[0]?.height ?? fallback;
    const isLoaded = await getJson<Block>(`/api/v2/blocks/${fallback}`).then(() => true, () => false);
    if (isLoaded || block.timestamp === null) return fallback;
    const next = await blockAt(Date.parse(block.timestamp) / 1000 + 1, ['after']);
    return next !== null && next > block.height ? next : fallback;
  } catch {
    return fallback;
  }
}
