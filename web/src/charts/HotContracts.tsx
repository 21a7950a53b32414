// The contracts that the most transactions called in a period.
import { useLocation } from 'preact-iso';
import { useApi } from '../api/use_api.ts';
import type { AddressRef, Page } from '../api/types.ts';
import { count } from '../format/amount.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { withQuery } from '../parts/list/query.ts';
import { AnswerView } from '../parts/Answer.tsx';
import { type Column, Table } from '../parts/list/Table.tsx';
import { Unknown } from '../parts/Unknown.tsx';

interface HotContract { contract_address: AddressRef; balance: string | null; transactions_count: number; total_gas_used: number | null }

const SCALES = ['1h', '1d', '7d', '30d'];
const columns: Column<HotContract>[] = [
  { name: 'Contract', cell: (item) => <Address of={item.contract_address} copy /> },
  { name: 'Transactions', right: true, cell: (item) => count(item.transactions_count) },
  { name: 'Gas used', right: true, cell: (item) => count(item.total_gas_used) ?? <Unknown /> },
  { name: 'Balance', right: true, cell: (item) => <Coins wei={item.balance} /> },
];

export function HotContracts() {
  const { path, query } = useLocation();
  const scale = SCALES.includes(query['scale'] ?? '') ? query['scale'] : '1d';
  const answer = useApi<Page<HotContract>>(`/api/v2/stats/hot-smart-contracts?scale=${scale}`);
  return (
    <section class="panel">
      <header><h2>Most called contracts</h2><span class="choice">{SCALES.map((one) => <a key={one} href={withQuery(path, query, { scale: one === '1d' ? undefined : one })} aria-current={one === scale ? 'true' : undefined}>{one}</a>)}</span></header>
      <AnswerView answer={answer} lines={5} compact>{(page) => <Table items={page.items.slice(0, 15)} columns={columns} id={(item) => item.contract_address.hash} label="Most called contracts" empty="No contract was called." />}</AnswerView>
    </section>
  );
}
