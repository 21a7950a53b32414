// All accounts, ordered by balance or by number of transactions.
import { useLocation } from 'preact-iso';
import type { RankedAddress } from '../api/types.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { Height } from '../parts/Hash.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { withQuery } from '../parts/list/query.ts';
import type { Column } from '../parts/list/Table.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { delegateOf } from '../state/address_names.ts';
import { countOrUnknown } from './columns.tsx';

/** An account that delegates to a contract (EIP-7702) is not one. */
function kindOf(item: RankedAddress) {
  if (item.is_contract === null) return <Unknown />;
  return item.is_contract && !delegateOf(item) ? 'contract' : 'account';
}

const columns: Column<RankedAddress>[] = [
  { name: 'Address', cell: (item) => <Address of={item} copy /> },
  { name: 'Kind', cell: (item) => kindOf(item) },
  { name: 'Transactions', right: true, cell: (item) => countOrUnknown(item.transactions_count) },
  { name: 'Balance', right: true, cell: (item) => <Coins wei={item.coin_balance} /> },
];

const ORDERS = [['', 'By balance'], ['transactions_count', 'By transactions']] as const;

export function Accounts() {
  useTitle('Accounts');
  const { path, query } = useLocation();
  const sort = query['sort'] ?? '';
  return (
    <>
      <h1>Accounts</h1>
      <div class="tools">
        <span class="choice">{ORDERS.map(([order, name]) => <a key={order} href={withQuery(path, query, { sort: order, after: undefined })} aria-current={order === sort ? 'true' : undefined}>{name}</a>)}</span>
      </div>
      <PagedTable<RankedAddress, { block_number?: number }> path="/addresses" query={{ sort }} columns={columns} id={(item) => item.hash} label="Accounts" empty="No account is known."
        note={(page) => page.block_number !== undefined && <p class="quiet">As it was after block <Height of={page.block_number} />. Transactions are those that an address takes part in.</p>} />
    </>
  );
}
