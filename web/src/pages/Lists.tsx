// Pages with one list of the whole chain.
import { useLocation } from 'preact-iso';
import type { Block, InternalTransaction, Page, TokenTransfer, Transaction, Withdrawal } from '../api/types.ts';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { withQuery } from '../parts/list/query.ts';
import { count } from '../format/amount.ts';
import { depthOf } from '../format/branch.ts';
import { CURSORS } from '../format/jump.ts';
import { Jump } from '../parts/list/Pages.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { useTitle } from '../parts/title.ts';
import { blockColumns, uncleColumns, internalColumns, internalId, transactionColumns, transferColumns, transferId, withdrawalsOfChain } from './columns.tsx';

const KINDS = [['', 'Blocks', 'No block is loaded.'], ['uncle', 'Uncles', 'No loaded block includes an uncle.'], ['reorg', 'Reorgs', 'No reorganisation was seen while the server followed the chain.']] as const;

/** How many blocks between two rows are not indexed. */
function notIndexed(above: Block, below: Block): string | null {
  const missing = above.height - below.height - 1;
  return missing > 0 ? `${count(missing)} block${missing === 1 ? ' is' : 's are'} not indexed here` : null;
}

/** The columns of replaced blocks, with how many blocks each reorganisation replaced. */
const reorgColumns = ({ items, next_page_params: next }: Page<Block>): Column<Block>[] => {
  const depth = (block: Block) => {
    const { depth, isAtLeast } = depthOf(block, items, next !== null);
    return `${isAtLeast ? '≥ ' : ''}${depth}`;
  };
  return [...blockColumns.slice(0, 2), { name: 'Depth', right: true, cell: (block) => <span title="Blocks that the reorganisation replaced">{depth(block)}</span> }, ...blockColumns.slice(2)];
};

export function Blocks() {
  useTitle('Blocks');
  const { path, query } = useLocation();
  const type = query['type'] ?? '';
  return (
    <>
      <h1>Blocks</h1>
      <nav class="tabs" aria-label="Kinds of blocks">
        {KINDS.map(([kind, name]) => <a key={kind} href={withQuery(path, query, { type: kind, after: undefined })} aria-current={kind === type ? 'page' : undefined}>{name}</a>)}
      </nav>
      {type === '' && <div class="tools"><Jump cursor={CURSORS.blocks} /><a class="button small" href="/withdrawals">Withdrawals</a></div>}
      <PagedTable<Block> path="/blocks" query={{ type }} columns={type === 'uncle' ? uncleColumns : type === 'reorg' ? reorgColumns : blockColumns} id={(block) => block.hash} gap={type === '' ? notIndexed : undefined} label="Blocks" empty={KINDS.find(([kind]) => kind === type)?.[2]} />
    </>
  );
}

const scanLink = (kind: string) => <a class="button small" href={`/scan?kind=${kind}`}>Scan and download</a>;

export function Transactions() {
  useTitle('Transactions');
  return (
    <>
      <h1>Transactions</h1>
      <div class="tools"><Jump cursor={CURSORS.transactions} /><a class="button small" href="/ops">User operations</a></div>
      <PagedTable<Transaction> path="/transactions" columns={transactionColumns} id={(item) => item.hash} label="Transactions" empty="No transactions in loaded blocks." whole={scanLink('transactions')} />
    </>
  );
}

export function InternalTransactions() {
  useTitle('Internal transactions');
  return (
    <>
      <h1>Internal transactions</h1>
      <div class="tools"><Jump cursor={CURSORS.calls} /></div>
      <PagedTable<InternalTransaction> path="/internal-transactions" columns={internalColumns} id={internalId} label="Internal transactions" empty="No internal transactions in blocks whose calls are loaded." whole={scanLink('internal-transactions')} />
    </>
  );
}

export function Withdrawals() {
  useTitle('Withdrawals');
  return (
    <>
      <h1>Withdrawals</h1>
      <PagedTable<Withdrawal> path="/withdrawals" columns={withdrawalsOfChain} id={(item) => String(item.index)} label="Withdrawals" empty="No withdrawals in loaded blocks." />
    </>
  );
}

export function TokenTransfers() {
  useTitle('Token transfers');
  return (
    <>
      <h1>Token transfers</h1>
      <div class="tools"><Jump cursor={CURSORS.transfers} /></div>
      <PagedTable<TokenTransfer> path="/token-transfers" columns={transferColumns} id={transferId} label="Token transfers" empty="No token transfers in loaded blocks." whole={scanLink('token-transfers')} />
    </>
  );
}
