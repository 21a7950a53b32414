// Why transactions failed, by contract and method.
import { type Answer, useApi } from '../api/use_api.ts';
import type { AddressRef } from '../api/types.ts';
import { count } from '../format/amount.ts';
import { shortName } from '../format/hash.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { AnswerView, Failure } from '../parts/Answer.tsx';
import { type Column, Table } from '../parts/list/Table.tsx';
import { Unknown } from '../parts/Unknown.tsx';
import { DataPanel } from './DataPanel.tsx';
import { shortSignature } from './periods.ts';
import { failuresSql } from './sql.ts';

interface FailureCount {
  contract: AddressRef | null; method_id: string | null; signature: string | null; error: string | null; revert_id: string | null; message: string | null;
  transactions_count: number; gas_used: string | null; fees: string | null;
}
export interface Failures { items: FailureCount[]; items_in_all: number; block_number: number | null; is_complete: boolean }

/** The number of rows that are shown; the file has all. */
const MAX_ROWS = 15;

/** The error of the node, and below it the message of the contract. */
function reason({ error, message, revert_id }: FailureCount) {
  if (error === null) return <Unknown />;
  const detail = message ?? revert_id;
  return <>{error}{detail !== null && <><br /><span class="quiet" title={message ?? 'The returned data begins with this.'}><bdi>{shortName(detail, 60)}</bdi></span></>}</>;
}

const method = (item: FailureCount) => (item.contract === null ? 'creation' : shortSignature(item.signature, item.method_id, 'no method'));
const ofMethods: Column<FailureCount>[] = [
  { name: 'Method', cell: (item) => <span class="method" title={item.signature ?? undefined}>{method(item)}</span> },
  { name: 'Reason', cell: reason },
  { name: 'Transactions', right: true, cell: (item) => count(item.transactions_count) },
  { name: 'Gas used', right: true, cell: (item) => count(item.gas_used) ?? <Unknown /> },
  { name: 'Fees', right: true, cell: (item) => <Coins wei={item.fees} /> },
];
const ofContracts: Column<FailureCount>[] = [
  { name: 'Contract', cell: (item) => (item.contract ? <Address of={item.contract} copy /> : <span class="quiet">none</span>) },
  ...ofMethods,
];

/** The failures of a contract; no request is sent for `null`. */
export const useFailures = (contract: string | null): Answer<Failures> => useApi<Failures>(contract === null ? null : `/api/v2/addresses/${contract}/activity/failures`);

/** The failures of the chain since a day; no request is sent before the day is known. */
export const useAllFailures = (from: string | null): Answer<Failures> => useApi<Failures>(from === null ? null : `/api/v2/stats/activity/failures?from=${from}`);

export function FailureReasons({ of: answer, contract, from = null }: { of: Answer<Failures>; contract: string | null; from?: string | null }) {
  const head = ['contract', 'method_id', 'signature', 'error', 'revert_id', 'message', 'transactions_count', 'gas_used', 'fees'];
  const rows = (items: FailureCount[]) => items.map((item) => [item.contract?.hash ?? null, item.method_id, item.signature, item.error, item.revert_id, item.message, item.transactions_count, item.gas_used, item.fees]);
  const title = contract === null ? 'Why transactions failed' : 'Why incoming transactions failed';
  if (answer.problem && !answer.data) return <section class="panel"><header><h2>{title}</h2></header><Failure problem={answer.problem} refetch={answer.refetch} compact /></section>;
  return (
    <AnswerView answer={answer} lines={10} compact>{(data) => (
      <DataPanel id="failure-reasons" title={title} about={about(data, from)} sql={failuresSql(contract, from)} head={head} rows={() => rows(data.items)} hasRows={data.items.length > 0} kind="">
        <Table items={data.items.slice(0, MAX_ROWS)} columns={contract === null ? ofContracts : ofMethods} label={title} empty={data.block_number === null ? 'No block is settled yet.' : `No ${contract === null ? '' : 'incoming '}transaction with a known outcome failed.`}
          id={(item) => [item.contract?.hash, item.method_id, item.error, item.revert_id, item.message].join()} />
      </DataPanel>
    )}</AnswerView>
  );
}

function about({ items, items_in_all: all, block_number, is_complete }: Failures, from: string | null): string | undefined {
  if (block_number === null) return undefined;
  const shown = Math.min(items.length, MAX_ROWS);
  const how = all === 0 ? '' : shown < all ? `The ${count(shown)} most frequent reasons of ${count(all)}. ` : '';
  return `${how}${from === null ? 'Up' : `Since ${from}, up`} to block ${block_number.toLocaleString('en')}.${is_complete ? '' : ' Not all blocks are loaded, or not all transactions say whether they failed.'}`;
}
