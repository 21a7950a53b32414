// The coins that an address received and sent, by counterparty.
import { type Answer, useApi } from '../api/use_api.ts';
import type { AddressRef } from '../api/types.ts';
import { count } from '../format/amount.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import { type Column, Table } from '../parts/list/Table.tsx';
import { aboutFlows } from './Counterparties.tsx';
import { DataPanel } from './DataPanel.tsx';
import { coinsSql } from './sql.ts';

interface Flow { address: AddressRef; received_count: number; received_amount: string | null; sent_count: number; sent_amount: string | null }
interface Flows { items: Flow[]; items_in_all: number; is_complete: boolean }

/** An amount with the number of calls. */
const amountCell = (times: number, wei: string | null) => (times === 0 ? <span class="quiet">nothing</span> : (
  <><Coins wei={wei} /><br /><span class="quiet">in {count(times)} {times === 1 ? 'call' : 'calls'}</span></>
));
const columns: Column<Flow>[] = [
  { name: 'Counterparty', cell: (item) => <Address of={item.address} copy /> },
  { name: 'Received', right: true, cell: (item) => amountCell(item.received_count, item.received_amount) },
  { name: 'Sent', right: true, cell: (item) => amountCell(item.sent_count, item.sent_amount) },
];

export const useCoinFlows = (hash: string): Answer<Flows> => useApi<Flows>(`/api/v2/addresses/${hash}/activity/coins`);

export function CoinFlows({ of: answer, hash }: { of: Answer<Flows>; hash: string }) {
  const head = ['counterparty', 'received_count', 'received_wei', 'sent_count', 'sent_wei'];
  const rows = (items: Flow[]) => items.map((item) => [item.address.hash, item.received_count, item.received_amount, item.sent_count, item.sent_amount]);
  return (
    <AnswerView answer={answer} lines={20} compact>{({ items, items_in_all, is_complete }) => (
      <DataPanel id="coins" title="Coins by counterparty" about={aboutFlows(items.length, items_in_all, is_complete ? null : 'Not all blocks are loaded with call frames.')} sql={coinsSql(hash)} head={head} rows={() => rows(items)} hasRows={items.length > 0} kind="">
        <Table items={items} columns={columns} id={(item) => item.address.hash} label="Coins by counterparty" empty="No coin transfers in blocks that are loaded with call frames." />
      </DataPanel>
    )}</AnswerView>
  );
}
