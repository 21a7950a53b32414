// The nearest loaded block below a height that is not loaded.
import { type Below, belowPath } from '../api/block_times.ts';
import { useApi } from '../api/use_api.ts';
import { Height } from './Hash.tsx';

export function NearestBlock({ height }: { height: number }) {
  const below = useApi<Below>(Number.isSafeInteger(height) ? belowPath(height) : null);
  const nearest = below.data?.items[0]?.height;
  return nearest === undefined ? null : <p>Nearest loaded block below: <Height of={nearest} /></p>;
}
