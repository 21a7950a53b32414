// The chart of the balance of an address.
import { useMemo } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useApi } from '../api/use_api.ts';
import type { BalancePoint, Page } from '../api/types.ts';
import { Loading } from '../parts/Answer.tsx';
import { chain } from '../state/chain.ts';
import { ChartPanel } from './ChartPanel.tsx';

/** The chart above its children, which wait for it, so that the layout does not shift. */
export function BalanceChart({ hash, children }: { hash: string; children: ComponentChildren }) {
  const { data, problem } = useApi<Page<BalancePoint>>(`/api/v2/addresses/${hash}/coin-balance-history?items_count=100`);
  const { x, values } = useMemo(() => {
    const points = (data?.items ?? []).filter((point) => point.block_timestamp !== null).toReversed();
    return { x: points.map((point) => Date.parse(point.block_timestamp ?? '') / 1000), values: points.map((point) => Number(point.value) / 1e18) };
  }, [data]);
  const series = useMemo(() => [{ name: 'Balance', values }], [values]);
  if (!data && !problem) return <Loading lines={30} />;
  if (!data || x.length < 2) return <>{children}</>;
  return <><ChartPanel id="balance" title="Balance" about={data.next_page_params ? 'The newest 100 changes.' : undefined} x={x} axis="time" series={series} steps unit={chain.value.symbol} />{children}</>;
}
