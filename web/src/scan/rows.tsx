// The columns of scan results.
import { checksum } from '../format/keccak.ts';
import { shortHash, shortName } from '../format/hash.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { Height, TxHash } from '../parts/Hash.tsx';
import { UndoneBadge } from '../parts/Method.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { Time, TimeHead } from '../parts/Time.tsx';
import { Unknown } from '../parts/Unknown.tsx';
import type { Filter } from './filter.ts';
import { group } from '../format/amount.ts';
import { isAddress } from '../format/hash.ts';

export interface Row {
  blockNumber: string; blockTimestamp: string; transactionHash?: string; hash?: string; logIndex?: string; batchIndex?: string; frameIndex?: string;
  address?: string; topics?: string[]; data?: string; decoded?: Record<string, unknown> | null;
  token?: string; tokenType?: string; tokenId?: string | null; from?: string | null; to?: string | null; createdContract?: string | null; value?: string;
  callType?: string; isUndone?: boolean; status?: string | null;
}

export const idOf = (row: Row) => [row.blockNumber, row.transactionHash ?? row.hash, row.logIndex, row.batchIndex, row.frameIndex].join('-');

const party = (address: string | null | undefined) => (address ? <Address of={{ hash: checksum(address) }} /> : <span class="quiet">–</span>);
const position: Column<Row>[] = [
  { name: 'Block', cell: (row) => <Height of={Number(row.blockNumber)} /> },
  { name: 'Time', head: <TimeHead />, cell: (row) => <Time at={new Date(Number(row.blockTimestamp) * 1000).toISOString()} /> },
  { name: 'Transaction', cell: (row) => <TxHash hash={row.transactionHash ?? row.hash ?? ''} /> },
];
const sides: Column<Row>[] = [
  { name: 'From', cell: (row) => party(row.from) },
  { name: 'To', cell: (row) => party(row.to ?? row.createdContract) },
];
const coins: Column<Row> = { name: 'Value', right: true, cell: (row) => <Coins wei={row.value === undefined ? null : BigInt(row.value).toString()} /> };

function Value({ of }: { of: unknown }) {
  if (of === null || of === undefined) return <Unknown />;
  const text = typeof of === 'string' ? of : JSON.stringify(of);
  if (isAddress(text)) return party(text);
  if (/^\d+$/.test(text)) return <span class="amount" title={group(text)}>{text.length > 24 ? shortHash(text, 10, 6) : group(text)}</span>;
  return <span class="value" title={text.slice(0, 500)}>{shortName(text.startsWith('0x') ? shortHash(text, 10, 6) : text, 40)}</span>;
}

/** The columns for a filter; each decoded value of the first row has its own. */
export function columnsOf(filter: Filter, first: Row | undefined): Column<Row>[] {
  switch (filter.kind) {
    case 'logs': {
      const names = first?.decoded ? Object.keys(first.decoded) : null;
      const values: Column<Row>[] = names
        ? names.map((name) => ({ name, right: /^-?\d+$/.test(String(first?.decoded?.[name])), cell: (row: Row) => <Value of={row.decoded?.[name]} /> }))
        : [
          { name: 'Topics', cell: (row) => <span class="stack">{(row.topics ?? []).map((topic, index) => <span key={index} class="hash" title={topic}>{shortHash(topic, 10, 8)}</span>)}</span> },
          { name: 'Data', cell: (row) => <span class="hash" title={(row.data ?? '').slice(0, 1000)}>{shortHash(row.data ?? '', 18, 8)}</span> },
        ];
      return [...position, { name: 'Contract', cell: (row) => party(row.address) }, ...values];
    }
    case 'token-transfers': return [...position, ...sides, { name: 'Token', cell: (row) => party(row.token) }, { name: 'Id', right: true, cell: (row) => (row.tokenId ? <Value of={BigInt(row.tokenId).toString()} /> : <span class="quiet">–</span>) }, { name: 'Units', right: true, cell: (row) => <Value of={row.value === undefined ? null : BigInt(row.value).toString()} /> }];
    case 'internal-transactions': return [...position, { name: 'Kind', cell: (row) => <span class="row"><span class="method">{row.callType}</span>{row.isUndone && <UndoneBadge />}</span> }, ...sides, coins];
    case 'transactions': return [...position, ...sides, coins];
  }
}
