// The balance changes of a transaction.
import type { ComponentChildren } from 'preact';
import type { Page, StateChange } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { Address } from '../../parts/Address.tsx';
import { Coins, TokenName, Units } from '../../parts/Amount.tsx';
import { Loading, AnswerView } from '../../parts/Answer.tsx';
import { type Column, Table } from '../../parts/list/Table.tsx';
import { Unknown } from '../../parts/Unknown.tsx';
import { changesByAddress } from '../../format/trace/changes.ts';
import { Slots } from './Slots.tsx';
import { PagedTable } from '../../parts/list/PagedTable.tsx';

function Change({ of }: { of: StateChange }) {
  if (of.type === 'coin') return <Coins wei={of.change} signed />;
  const decimals = of.token_id !== null && of.token?.type !== 'ERC-20' ? '0' : of.token?.decimals;
  return (
    <span class="moved">
      {of.change === null ? <Unknown /> : <Units value={of.change} decimals={decimals} signed />} {of.token && <TokenName token={of.token} />}
      {of.token_id !== null && <span class="id" title={of.token_id}>#{of.token_id.length > 14 ? `${of.token_id.slice(0, 6)}…` : of.token_id}</span>}
    </span>
  );
}

const columns: Column<StateChange>[] = [
  { name: 'Address', cell: (item) => <Account of={item} /> },
  { name: 'Before', right: true, cell: (item) => (item.type === 'coin' ? <Coins wei={item.balance_before} digits={10} /> : <span class="quiet">–</span>) },
  { name: 'After', right: true, cell: (item) => (item.type === 'coin' ? <Coins wei={item.balance_after} digits={10} /> : <span class="quiet">–</span>) },
  { name: 'Change', right: true, cell: (item) => <Change of={item} /> },
];

const id = (item: StateChange) => `${item.type}-${item.address.hash}-${item.token?.address_hash ?? ''}-${item.token_id ?? ''}`;

function Account({ of }: { of: StateChange }) {
  return <span class="row"><Address of={of.address} />{of.is_miner && <span class="count" title="Receives the fees of the block">fees</span>}</span>;
}

const ofAddress: Column<StateChange[]>[] = [
  { name: 'Address', cell: ([first]) => first && <Account of={first} /> },
  { name: 'Change', right: true, cell: (items) => <span class="stack">{items.map((item) => <Change key={id(item)} of={item} />)}</span> },
];
const idOfAddress = ([first]: StateChange[]) => first?.address.hash ?? '';

/** The net balance changes in the overview. Its children wait for them, so that the layout does not shift. */
export function NetChanges({ hash, from, children }: { hash: string; from: string; children: ComponentChildren }) {
  const answer = useApi<Page<StateChange>>(`/api/v2/transactions/${hash}/state-changes`);
  if (!answer.data && !answer.problem) return <Loading lines={30} />;
  return (
    <><section class="panel">
      <header><h2>Net balance changes</h2>{answer.data?.next_page_params && <a href={`/tx/${hash}?tab=state`}>All</a>}</header>
      <AnswerView answer={answer} lines={4} compact>{(page) => <ByAddress items={page.items} from={from} />}</AnswerView>
    </section>{children}</>
  );
}

/** The most addresses that are shown. */
const MAX_ADDRESSES = 20;

function ByAddress({ items, from }: { items: StateChange[]; from: string }) {
  const { groups, dust } = changesByAddress(items, from);
  return (
    <>
      <Table items={groups.slice(0, MAX_ADDRESSES)} columns={ofAddress} id={idOfAddress} label="Net balance changes" empty="No known balance changes." />
      {dust.length > 0 && <details class="dust"><summary>{dust.length} more below 1 gwei</summary><Table items={dust} columns={ofAddress} id={idOfAddress} label="Changes below 1 gwei" /></details>}
    </>
  );
}

export function StateChanges({ hash }: { hash: string }) {
  return (
    <>
      <p class="quiet">Coin balances before and after, and changes of token balances.</p>
      <PagedTable<StateChange> path={`/transactions/${hash}/state-changes`} columns={columns} id={id} label="Balances before and after" empty="No known balance changes." after={<Slots hash={hash} />} />
    </>
  );
}
