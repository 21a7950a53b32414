// The creators of contracts with the same code.
import { useApi } from '../../api/use_api.ts';
import type { AddressRef } from '../../api/types.ts';
import { DataPanel } from '../../charts/DataPanel.tsx';
import { sameCodeSql } from '../../charts/sql.ts';
import { count } from '../../format/amount.ts';
import { Address } from '../../parts/Address.tsx';
import { AnswerView } from '../../parts/Answer.tsx';
import { type Column, Table } from '../../parts/list/Table.tsx';
import { Time, TimeHead } from '../../parts/Time.tsx';
import { Unknown } from '../../parts/Unknown.tsx';

interface Creator { creator: AddressRef; creations_count: number; first_block_number: number; first_timestamp: string; last_block_number: number; last_timestamp: string }
interface Creators { code_hash: string; creations_count: number; creators_count: number; is_complete: boolean; items: Creator[] }

const columns: Column<Creator>[] = [
  { name: 'Created by', cell: (item) => <Address of={item.creator} copy /> },
  { name: 'Contracts', right: true, cell: (item) => count(item.creations_count) },
  { name: 'First', head: <>First, <TimeHead /></>, cell: (item) => <Time at={item.first_timestamp} /> },
  { name: 'Last', head: <>Last, <TimeHead /></>, cell: (item) => <Time at={item.last_timestamp} /> },
];
const head = ['creator', 'creations_count', 'first_block_number', 'first_timestamp', 'last_block_number', 'last_timestamp'];

export function SameCode({ hash }: { hash: string }) {
  const answer = useApi<Creators>(`/api/v2/smart-contracts/${hash}/same-code`);
  if (answer.problem?.status === 404) return <section class="panel"><header><h2>Contracts of the same code</h2></header><Unknown why={answer.problem.message} /></section>;
  const rows = (items: Creator[]) => items.map((item) => [item.creator.hash, item.creations_count, item.first_block_number, item.first_timestamp, item.last_block_number, item.last_timestamp]);
  return (
    <AnswerView answer={answer} lines={3} compact>{(data) => (
      <DataPanel id="same-code" title="Contracts of the same code" about={about(data)} sql={sameCodeSql(data.code_hash)} head={head} rows={() => rows(data.items)} hasRows={data.items.length > 0} kind="">
        <Table items={data.items} columns={columns} id={(item) => item.creator.hash} label="Who created contracts of the same code" empty="No loaded block created one." />
      </DataPanel>
    )}</AnswerView>
  );
}

function about({ creations_count, creators_count, is_complete }: Creators): string {
  const part = is_complete ? '' : ' Not all blocks are loaded with their calls, so there may be more.';
  return `${count(creations_count)} ${creations_count === 1 ? 'contract' : 'contracts'}, created by ${count(creators_count)} ${creators_count === 1 ? 'account' : 'accounts'}.${part}`;
}
