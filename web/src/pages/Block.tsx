// A block with its transactions, internal transactions and withdrawals.
import { withRetry } from '../api/retry.ts';
import { lazy, useLocation, useRoute } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { loadedNeighbour } from '../api/neighbours.ts';
import { useApi } from '../api/use_api.ts';
import type { Block as BlockObject, InternalTransaction, Page, Transaction, Withdrawal } from '../api/types.ts';
import { bytes, count } from '../format/amount.ts';
import { branchOf } from '../format/branch.ts';
import { Address } from '../parts/Address.tsx';
import { Coins, Gwei } from '../parts/Amount.tsx';
import { ChainFacts } from '../parts/ChainFacts.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Finality } from '../parts/Finality.tsx';
import { Height, Plain } from '../parts/Hash.tsx';
import { isHash, textOf } from '../format/hash.ts';
import { NearestBlock } from '../parts/NearestBlock.tsx';
import { Order, type Orders } from '../parts/list/Order.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import { chosenTab, Tabs } from '../parts/Tabs.tsx';
import { Time } from '../parts/Time.tsx';
import { health } from '../state/pulse.ts';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { internalColumns, internalId, transactionsOfBlock, GasUsedMeter, withdrawalColumns, countOrUnknown } from './columns.tsx';

const Invalid = lazy(withRetry(() => import('./Invalid.tsx').then((page) => page.Invalid)));
const Verdict = lazy(withRetry(() => import('./Verdict.tsx').then((part) => part.Verdict)));

const ORDERS: Orders = [['In order', {}], ['By fee', { sort: 'fee' }], ['By value', { sort: 'value' }]];

/** The greatest depth of a reorganisation that is looked for. */
const MAX_DEPTH = 64;

export function Block() {
  const id = useRoute().params['id'] ?? '';
  return /^\d+$/.test(id) || isHash(id) ? <ValidBlock id={id} /> : <Invalid what="block" text={id} />;
}

/** The hash of the block that the page showed first. */
function useBefore(id: string, hash: string | undefined): string | undefined {
  const first = useRef<{ id: string; hash: string } | null>(null);
  if (hash !== undefined && first.current?.id !== id) first.current = { id, hash };
  return first.current?.id === id ? first.current.hash : undefined;
}

function ValidBlock({ id }: { id: string }) {
  const { params, query } = useRoute();
  const { path, route } = useLocation();
  const block = useApi<BlockObject>(`/api/v2/blocks/${id}`);
  useTitle(`Block ${id}`);
  const height = block.data?.height ?? (/^\d+$/.test(id) ? Number(id) : undefined);
  /** A click leads to the nearest loaded block; other ways to open the link lead to the height beside. */
  const toNeighbour = (event: MouseEvent, side: 'below' | 'above') => {
    if (height === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void loadedNeighbour({ height, timestamp: block.data?.timestamp ?? null }, side).then((next) => route(`/block/${next}`));
  };
  const [data, at] = [health.value?.report?.data, health.value?.at];
  const isRecent = height !== undefined && data?.following != null && data.latest_block_number !== null && data.latest_block_number - height < MAX_DEPTH;
  const before = useBefore(id, block.data?.hash);
  // A block near the newest one may lose its place while the page is open.
  const lastReport = useRef(at);
  useEffect(() => {
    if (isRecent && lastReport.current !== undefined && block.data) block.refetch();
    lastReport.current = at;
  }, [at]);
  const base = `/block/${id}`;
  const tabs = [
    { id: 'txs', name: 'Transactions', count: count(block.data?.transactions_count) },
    { id: 'internal_txns', name: 'Internal', count: count(block.data?.internal_transactions_count) },
    { id: 'withdrawals', name: 'Withdrawals', count: count(block.data?.withdrawals_count) },
  ];
  const tab = chosenTab(tabs, params['tab'] ?? query['tab'], { transactions: 'txs', internal: 'internal_txns' });
  return (
    <>
      <h1 class="row">Block {count(height) ?? ''}
        {height !== undefined && height > 0 && <a class="button small" href={`/block/${height - 1}`} aria-label="Previous block" onClick={(event) => toNeighbour(event, 'below')}>←</a>}
        {height !== undefined && <a class="button small" href={`/block/${height + 1}`} aria-label="Next block" onClick={(event) => toNeighbour(event, 'above')}>→</a>}
        {block.data && block.data.type !== 'block' && <>{' '}<span class="badge bad">{block.data.type === 'uncle' ? 'uncle' : 'replaced'}</span></>}
      </h1>
      {block.problem && !block.data && block.problem.status === 404 && height !== undefined && <NearestBlock height={height} />}
      <AnswerView answer={block} lines={30}>{(data) => (
        <>
          {before && before !== data.hash && <p class="failure compact" role="status"><strong>Replaced while this page was open.</strong> At this height was <a class="hash whole" href={`/block/${before}`}>{before}</a>.</p>}
          {data.type === 'reorg' && <ReorgNotice block={data} />}
          <Details block={data} />
          {data.type !== 'block' ? <NonCanonicalBody block={data} /> : <><Tabs tabs={tabs} chosen={tab} base={base} />
          <section aria-label={tab} data-path={path}>
            {tab === 'txs' && <div class="tools"><Order orders={ORDERS} /></div>}
            {tab === 'txs' && <PagedTable<Transaction> path={`/blocks/${id}/transactions`} query={{ sort: query['sort'] }} columns={transactionsOfBlock} id={(item) => item.hash} label="Transactions of the block" empty="The block has no transactions." />}
            {tab === 'internal_txns' && <PagedTable<InternalTransaction> path={`/blocks/${id}/internal-transactions`} columns={internalColumns.filter((column) => !['Block', 'Time'].includes(column.name))} id={internalId} label="Internal transactions of the block" empty="No internal transactions." />}
            {tab === 'withdrawals' && <PagedTable<Withdrawal> path={`/blocks/${id}/withdrawals`} columns={withdrawalColumns} id={(item) => String(item.index)} label="Withdrawals of the block" empty="The block has no withdrawals." />}
          </section></>}
        </>
      )}</AnswerView>
    </>
  );
}

/** The current block at the height of a replaced one, and the depth of the reorganisation. */
function ReorgNotice({ block }: { block: BlockObject }) {
  const current = useApi<BlockObject>(`/api/v2/blocks/${block.height}`);
  const others = useApi<Page<BlockObject>>(`/api/v2/blocks?type=reorg&block_number=${block.height + MAX_DEPTH}&items_count=100`);
  const branch = branchOf(block, others.data?.items ?? []);
  const first = branch[0] ?? block;
  return (
    <div class="failure compact" role="note"><strong>Replaced by a reorganisation.</strong>
      <p>{current.data ? <>The block at this height is now <a class="hash whole" href={`/block/${current.data.hash}`}>{current.data.hash}</a>.</> : current.problem ? 'No block of this height is loaded now.' : '…'}</p>
      {others.data && <p>Depth {branch.length}: {branch.length === 1 ? 'this block alone was replaced' : `blocks ${count(first.height)} to ${count(branch.at(-1)?.height)} were replaced together`}, after block <Height of={first.height - 1} />.</p>}
    </div>
  );
}

/** The transactions and withdrawals of a block that is not in the chain. */
function NonCanonicalBody({ block: { hash, type, transactions_count: transactions, withdrawals_count: withdrawals } }: { block: BlockObject }) {
  if (type === 'uncle') return <p class="empty">Only the header of an uncle is stored: its transactions were not executed, or are in other blocks.</p>;
  return (
    <>
      <p class="empty">{transactions === 0 ? 'The block had no transactions.' : `The block had ${count(transactions) ?? 'unknown'} transaction${transactions === 1 ? '' : 's'}, which are not stored with it. Those that were included again are found by their hashes; the others were dropped.`}</p>
      {withdrawals !== 0 && <PagedTable<Withdrawal> path={`/blocks/${hash}/withdrawals`} columns={withdrawalColumns} id={(item) => String(item.index)} label="Withdrawals of the block" empty="The block had no withdrawals." />}
    </>
  );
}

/** The extra data of a block, also as text if it is text. */
function ExtraData({ of }: { of: string | null }) {
  if (of === null) return <Unknown />;
  if (of === '0x') return <span class="quiet">none</span>;
  const text = textOf(of);
  return <span class="row"><span class="hash whole">{of}</span>{text && <span class="quiet">“{text}”</span>}</span>;
}

function Details({ block }: { block: BlockObject }) {
  return (
    <section class="panel">
      <Facts>
        <Fact name="Hash"><Plain hash={block.hash} what="hash" /></Fact>
        <Fact name="Time"><Time at={block.timestamp} both /></Fact>
        {block.type === 'block' && <Fact name="Finality"><Finality block={block.height} /></Fact>}
        {block.type === 'block' && <Fact name="Proven" hint="What was checked when the block was loaded, or verified again later"><Verdict block={block.hash} /></Fact>}
        <Fact name="Fee recipient" hint="The beneficiary in the header"><Address of={block.miner} copy /></Fact>
        <Fact name="Gas used"><span class="row">{count(block.gas_used)} of {count(block.gas_limit)} <GasUsedMeter block={block} /></span></Fact>
        {block.nephew_block_number !== undefined && <Fact name="Included by" hint="The block that includes this uncle, its nephew"><span class="row"><Height of={block.nephew_block_number} /> <span class="quiet">distance {block.nephew_block_number - block.height}</span></span></Fact>}
        {block.base_fee_per_gas !== null && <Fact name="Base fee"><Gwei wei={block.base_fee_per_gas} whole /></Fact>}
        {/* The transactions of an uncle paid no fees. */}
        {block.type !== 'uncle' && <Fact name="Fees"><span class="row"><Coins wei={block.transaction_fees} whole /> {block.base_fee_per_gas !== null && <><span class="quiet">burnt</span> <Coins wei={block.burnt_fees} whole /></>}</span></Fact>}
        {block.rewards.length > 0 && <Fact name="Rewards">{block.rewards.map((reward) => <div key={reward.type} class="row">{reward.type}: <Coins wei={BigInt(reward.reward).toString()} whole /></div>)}</Fact>}
        <Fact name="Size">{block.size === null ? <Unknown /> : bytes(block.size)}</Fact>
        {block.blob_transactions_count !== null && (block.blob_gas_used !== null || block.blob_transactions_count > 0) && <Fact name="Blobs">{block.blob_transactions_count === 0 ? <span class="quiet">none</span> : <span>{countOrUnknown(block.blob_transactions_count)} transaction{block.blob_transactions_count === 1 ? '' : 's'} with blobs, blob gas {countOrUnknown(block.blob_gas_used)}</span>}</Fact>}
        <ChainFacts of={block.chain_facts} />
        <Fact name="Parent"><a class="hash whole" href={`/block/${block.parent_hash}`}>{block.parent_hash}</a></Fact>
        {block.difficulty !== '0' && <Fact name="Difficulty">{countOrUnknown(block.difficulty)}</Fact>}
        <Fact name="State root"><Plain hash={block.state_root} what="state root" /></Fact>
        <Fact name="Extra data"><ExtraData of={block.extra_data} /></Fact>
        {block.uncles_hashes && block.uncles_hashes.length > 0 && <Fact name="Uncles">{block.uncles_hashes.map((hash) => <div key={hash}><a class="hash whole" href={`/block/${hash}`}>{hash}</a></div>)}</Fact>}
      </Facts>
    </section>
  );
}
