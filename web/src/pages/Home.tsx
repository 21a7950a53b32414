// The home page: the newest blocks and transactions, updated live, and figures of the chain.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { feedState, latestHead, openFeed } from '../api/feed.ts';
import { throttle } from '../api/throttle.ts';
import { type Answer, useApi } from '../api/use_api.ts';
import type { Block, Transaction } from '../api/types.ts';
import { count, percent } from '../format/amount.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { Height, TxHash } from '../parts/Hash.tsx';
import { Method, Outcome } from '../parts/Method.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import { Time } from '../parts/Time.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { methodOf } from '../format/kind.ts';
import { chain } from '../state/chain.ts';
import { pulse, setNewestBlocks } from '../state/pulse.ts';
import { To } from './columns.tsx';

interface Stats {
  total_transactions: string | null;
  average_block_time: number | null;
  gas_prices: { slow: number | null; average: number | null; fast: number | null } | null;
  network_utilization_percentage: number | null;
}
interface IndexingStatus { indexed_blocks_ratio: number | null; indexed_internal_transactions_ratio: number | null }

const FEED = {
  connecting: ['connecting', 'Connecting to the live feed of new blocks', 'connecting'],
  lost: ['connection lost', 'New blocks are not shown live; reconnecting', 'lost'],
} as const;
/** The least time between two updates of the lists, and of the figures of the chain, in milliseconds. */
const LISTS_PAUSE = 2500;
const FIGURES_PAUSE = 20_000;
/** Below this share of indexed blocks their number is shown instead. */
const MIN_SHARE = 0.01;
const TONES = { good: 'live', late: 'late', bad: 'lost', still: 'connecting' } as const;

/** The state of the connection; once it is open, that of the chain. */
function liveState(): readonly [string, string, string] {
  const feed = feedState.value;
  const chain = pulse.value;
  if (feed !== 'live') return FEED[feed];
  return chain ? [chain.word, chain.detail, TONES[chain.tone]] : FEED.connecting;
}

export function Home() {
  useTitle('');
  useEffect(openFeed, []);
  const blocks = useApi<Block[]>('/api/v2/main-page/blocks');
  const transactions = useApi<Transaction[]>('/api/v2/main-page/transactions');
  const stats = useApi<Stats>('/api/v2/stats');
  const indexing = useApi<IndexingStatus>('/api/v2/main-page/indexing-status');
  useEffect(() => {
    const lists = throttle(LISTS_PAUSE, () => [blocks, transactions].forEach((answer) => answer.refetch()));
    const figures = throttle(FIGURES_PAUSE, stats.refetch);
    const unsubscribe = latestHead.subscribe((head) => {
      if (head) for (const one of [lists, figures]) one.call();
    });
    return () => [unsubscribe, lists.stop, figures.stop].forEach((end) => end());
  }, [blocks.refetch, transactions.refetch, stats.refetch]);
  useEffect(() => {
    if (blocks.data) setNewestBlocks(blocks.data);
  }, [blocks.data]);
  const [state, why, tone] = liveState();
  return (
    <>
      <section class="hero">
        <h1>{chain.value.name || 'The chain'}</h1>
        <p class="quiet">Every block, transaction, log and call that is loaded here, straight from the tables. <span class={`feed ${tone}`} title={why}>{state}</span></p>
      </section>
      <ChainFacts stats={stats} indexing={indexing} blocks={blocks} />
      <div class="halves">
        <Feed name="Newest blocks" all={['/blocks', 'All blocks']} answer={blocks} tall>{(block) => <BlockLine key={block.hash} block={block} />}</Feed>
        <Feed name="Newest transactions" all={['/txs', 'All transactions']} answer={transactions}>{(item) => <TransactionLine key={item.hash} item={item} />}</Feed>
      </div>
    </>
  );
}

interface FeedProps<T> { name: string; all: [string, string]; answer: Answer<T[]>; tall?: boolean; children: (item: T) => ComponentChildren }

/** A live list, which pauses while it is hovered or has the focus. */
function Feed<T extends { hash: string }>({ name, all: [path, word], answer, tall, children }: FeedProps<T>) {
  const [isPaused, setPaused] = useState(false);
  const shown = useRef<T[] | undefined>(undefined);
  if (!isPaused || shown.current === undefined) shown.current = answer.data;
  const hasNewer = isPaused && shown.current?.[0]?.hash !== answer.data?.[0]?.hash;
  const pause = (event: PointerEvent) => { if (event.pointerType === 'mouse') setPaused(true); };
  return (
    <section class="panel">
      <header><h2>{name}</h2>{hasNewer && <span class="count" role="status">paused, newer ones are available</span>}<a href={path}>{word}</a></header>
      <AnswerView answer={answer} lines={8}>{(items) => items.length === 0 ? <p class="empty">None in loaded blocks.</p> : (
        <ul class={tall ? 'feedlist tall' : 'feedlist'} onPointerEnter={pause} onPointerLeave={() => setPaused(false)} onFocusIn={() => setPaused(true)} onFocusOut={() => setPaused(false)}>
          {(shown.current ?? items).map(children)}
        </ul>
      )}</AnswerView>
    </section>
  );
}

function Tile({ name, children, hint }: { name: string; children: ComponentChildren; hint?: string }) {
  return <div class="tile" title={hint}><span class="quiet">{name}</span><strong>{children}</strong></div>;
}

function ChainFacts({ stats, indexing, blocks: newestBlocks }: { stats: Answer<Stats>; indexing: Answer<IndexingStatus>; blocks: Answer<Block[]> }) {
  const newest = newestBlocks.data?.[0];
  const placeholder = (answer: Answer<unknown>) => (answer.data === undefined && !answer.problem ? '…' : <Unknown />);
  const figures = stats.data;
  const gas = figures?.gas_prices?.average;
  const blocks = indexing.data?.indexed_blocks_ratio;
  // If only a part of the chain is indexed, the page says how much.
  const isPart = blocks !== null && blocks !== undefined && blocks < MIN_SHARE;
  const loaded = useApi<{ blocks: number }>(isPart ? '/api/v2/stats/verdicts' : null).data?.blocks;
  const traces = indexing.data?.indexed_internal_transactions_ratio;
  return (
    <section class="tiles" aria-label="Facts about the chain">
      <Tile name="Block height">{newest ? <Height of={newest.height} /> : placeholder(newestBlocks)}</Tile>
      <Tile name="Latest block">{newest ? <Time at={newest.timestamp} /> : placeholder(newestBlocks)}</Tile>
      {!isPart && <Tile name="Transactions" hint="Known if every block from 0 on is loaded">{count(figures?.total_transactions) ?? placeholder(stats)}</Tile>}
      <Tile name="Gas price" hint="The 60th percentile of what the newest transactions paid">{gas === null || gas === undefined ? placeholder(stats) : <>{gas.toLocaleString('en', { maximumSignificantDigits: 3 })} <span class="unit">gwei</span></>}</Tile>
      <Tile name="Indexed" hint="The share of all blocks from 0 to the newest. A block whose hashes do not match is refused"><a href="/status">{blocks === null || blocks === undefined ? placeholder(indexing) : isPart && loaded ? <>{count(loaded)} blocks</> : percent(blocks)}</a></Tile>
      {isPart && <Tile name="Share of the chain" hint="The share of the blocks from 0 to the newest">{percent(blocks)}</Tile>}
      <Tile name="Internal calls indexed" hint="The share of blocks whose internal calls are loaded"><a href="/status">{traces === null || traces === undefined ? placeholder(indexing) : percent(traces)}</a></Tile>
    </section>
  );
}

function BlockLine({ block }: { block: Block }) {
  return (
    <li data-row={block.hash}>
      <div class="line"><Height of={block.height} /><span class="quiet"><Time at={block.timestamp} /></span></div>
      <div class="line"><span>{count(block.transactions_count) ?? <Unknown />} transaction{block.transactions_count === 1 ? '' : 's'}, {block.gas_used_percentage?.toFixed(0) ?? <Unknown />} % full</span><span class="quiet">by <Address of={block.miner} /></span></div>
      <meter min={0} max={100} value={block.gas_used_percentage ?? undefined} aria-label="share of the gas limit" />
    </li>
  );
}

function TransactionLine({ item }: { item: Transaction }) {
  return (
    <li data-row={item.hash}>
      <div class="line"><span class="row"><TxHash hash={item.hash} /> {item.status === 'error' ? <Outcome status="error" /> : <Method name={methodOf(item)} />}</span><span class="quiet"><Time at={item.timestamp} /></span></div>
      <div class="line"><span class="row"><Address of={item.from} /> <span class="quiet">→</span> <To of={item} /></span><Coins wei={item.value} /></div>
    </li>
  );
}
