// The tokens that an address received and sent, by counterparty.
import { type Answer, useApi } from '../api/use_api.ts';
import type { AddressRef, Token } from '../api/types.ts';
import { count } from '../format/amount.ts';
import { Address } from '../parts/Address.tsx';
import { TokenName, Units } from '../parts/Amount.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import { type Column, Table } from '../parts/list/Table.tsx';
import { DataPanel } from './DataPanel.tsx';
import { counterpartiesSql } from './sql.ts';

interface Flow { address: AddressRef; token: Token; token_type: string; received_count: number; received_amount: string | null; sent_count: number; sent_amount: string | null }
interface Flows { items: Flow[]; items_in_all: number; is_complete: boolean }

/** An amount with the number of transfers. */
const amountCell = (item: Flow, transfers: number, value: string | null) => (transfers === 0 ? <span class="quiet">nothing</span> : (
  <>
    <Units value={value} decimals={item.token_type === 'ERC-20' ? item.token.decimals : '0'} />
    <br /><span class="quiet">in {count(transfers)} {transfers === 1 ? 'transfer' : 'transfers'}</span>
  </>
));
const columns: Column<Flow>[] = [
  { name: 'Counterparty', cell: (item) => <Address of={item.address} copy /> },
  { name: 'Token', cell: (item) => <TokenName token={item.token} /> },
  { name: 'Received', right: true, cell: (item) => amountCell(item, item.received_count, item.received_amount) },
  { name: 'Sent', right: true, cell: (item) => amountCell(item, item.sent_count, item.sent_amount) },
];

export const useFlows = (hash: string): Answer<Flows> => useApi<Flows>(`/api/v2/addresses/${hash}/activity/counterparties`);

export function Counterparties({ of: answer, hash }: { of: Answer<Flows>; hash: string }) {
  const head = ['counterparty', 'token', 'token_type', 'received_count', 'received_amount', 'sent_count', 'sent_amount'];
  const rows = (items: Flow[]) => items.map((item) => [item.address.hash, item.token.address_hash, item.token_type, item.received_count, item.received_amount, item.sent_count, item.sent_amount]);
  return (
    <AnswerView answer={answer} lines={20} compact>{({ items, items_in_all, is_complete }) => (
      <DataPanel id="counterparties" title="Token transfers by counterparty" about={aboutFlows(items.length, items_in_all, is_complete ? null : 'Not all blocks are loaded.')} sql={counterpartiesSql(hash)} head={head} rows={() => rows(items)} hasRows={items.length > 0} kind="">
        <Table items={items} columns={columns} id={(item) => `${item.address.hash}-${item.token.address_hash}-${item.token_type}`} label="Token transfers by counterparty" empty="No token transfers in loaded blocks." />
      </DataPanel>
    )}</AnswerView>
  );
}

/** How many counterparties there are, and what is missing. */
export function aboutFlows(shown: number, all: number, missing: string | null): string | undefined {
  if (all === 0) return missing ?? undefined;
  return `${shown < all ? `The ${count(shown)} most frequent, of ${count(all)} in all.` : `${count(all)} in all.`}${missing === null ? '' : ` ${missing}`}`;
}
