// The columns of lists that several pages show.
import { Address } from '../parts/Address.tsx';
import { Coins, Gwei, TransferAmount } from '../parts/Amount.tsx';
import { Height, TxHash } from '../parts/Hash.tsx';
import { Method, Outcome, UndoneBadge } from '../parts/Method.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { Time, TimeHead } from '../parts/Time.tsx';
import { Unknown } from '../parts/Unknown.tsx';
import { count } from '../format/amount.ts';
import { shortHash } from '../format/hash.ts';
import { methodOf, recipientOf } from '../format/kind.ts';
import type { Block, InternalTransaction, TokenTransfer, Transaction, Withdrawal } from '../api/types.ts';

/** A count, or "unknown". */
export const countOrUnknown = (value: number | string | null | undefined) => count(value) ?? <Unknown />;

export const blockColumns: Column<Block>[] = [
  { name: 'Block', cell: (block) => (block.type === 'block' ? <Height of={block.height} /> : <a href={`/block/${block.hash}`}>{count(block.height)}</a>) },
  { name: 'Time', head: <TimeHead />, cell: (block) => <Time at={block.timestamp} /> },
  { name: 'Transactions', right: true, cell: (block) => countOrUnknown(block.transactions_count) },
  { name: 'Fee recipient', cell: (block) => <Address of={block.miner} /> },
  { name: 'Gas used', right: true, cell: (block) => <GasUsedMeter block={block} /> },
  { name: 'Base fee', right: true, cell: (block) => (block.base_fee_per_gas === null ? <NoBaseFee /> : <Gwei wei={block.base_fee_per_gas} />) },
  { name: 'Burnt', right: true, cell: (block) => (block.base_fee_per_gas === null || block.type === 'uncle' ? <NoBaseFee uncle={block.type === 'uncle'} /> : <Coins wei={block.burnt_fees} />) },
];

/** The columns of uncles, whose transactions were not executed. */
export const uncleColumns: Column<Block>[] = [
  ...blockColumns.filter((column) => ['Block', 'Time', 'Fee recipient', 'Gas used'].includes(column.name)),
  { name: 'Included by', right: true, cell: (block) => <Height of={block.nephew_block_number} /> },
  { name: 'Distance', right: true, cell: (block) => (block.nephew_block_number === undefined ? <Unknown /> : block.nephew_block_number - block.height) },
  { name: 'Reward', right: true, cell: (block) => <Coins wei={block.rewards[0] ? BigInt(block.rewards[0].reward).toString() : null} /> },
];

/** In place of a base fee, if the header has none. */
const NoBaseFee = ({ uncle }: { uncle?: boolean }) => <span class="quiet" title={uncle ? 'An uncle burns nothing: its transactions were not executed' : 'Before the London fork there is no base fee, and nothing is burnt'}>–</span>;

export function GasUsedMeter({ block }: { block: Block }) {
  const percentage = block.gas_used_percentage;
  if (percentage === null) return <Unknown />;
  return (
    <span class="used" title={`${count(block.gas_used)} of ${count(block.gas_limit)}`}>
      <meter min={0} max={100} value={percentage} aria-label="share of the gas limit" /> {percentage.toFixed(0)} %
    </span>
  );
}

/** The recipient, the created contract, or the number of calls. */
export function To({ of }: { of: Pick<Transaction, 'to' | 'created_contract'> & Partial<Pick<Transaction, 'chain_facts'>> }) {
  const kind = recipientOf(of);
  if (of.to) return <Address of={of.to} />;
  if (kind === 'calls') return <span>{count(of.chain_facts?.calls_count)} call{of.chain_facts?.calls_count === 1 ? '' : 's'}</span>;
  if (kind === 'none') return <span class="quiet">–</span>;
  return <span>{'new '}{of.created_contract ? <Address of={of.created_contract} /> : 'contract'}</span>;
}

export const transactionColumns: Column<Transaction>[] = [
  { name: 'Transaction', cell: (item) => <span class="row">{item.status === 'error' && <Outcome status="error" result={item.result} reason={item.revert_reason} />}<TxHash hash={item.hash} /></span> },
  { name: 'Method', cell: (item) => <Method name={methodOf(item)} /> },
  { name: 'Block', cell: (item) => <Height of={item.block_number} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.timestamp} /> },
  { name: 'From', cell: (item) => <Address of={item.from} /> },
  { name: 'To', cell: (item) => <To of={item} /> },
  { name: 'Value', right: true, cell: (item) => <Coins wei={item.value} /> },
  { name: 'Fee', right: true, cell: (item) => <Coins wei={item.fee.value} /> },
];

/** The same for a block: with positions and gas, without the block and its time. */
export const transactionsOfBlock: Column<Transaction>[] = [
  { name: '#', right: true, cell: (item) => <span class="quiet" title="Position in the block">{item.position}</span> },
  ...transactionColumns.filter((column) => !['Block', 'Time', 'Fee'].includes(column.name)),
  { name: 'Gas used', right: true, cell: (item) => countOrUnknown(item.gas_used) },
  ...transactionColumns.filter((column) => column.name === 'Fee'),
];

export const transferColumns: Column<TokenTransfer>[] = [
  { name: 'Transaction', cell: (item) => <TxHash hash={item.transaction_hash} /> },
  { name: 'Method', cell: (item) => <Method name={item.method} /> },
  { name: 'Block', cell: (item) => <Height of={item.block_number} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.timestamp} /> },
  { name: 'From', cell: (item) => <Address of={item.from} /> },
  { name: 'To', cell: (item) => <Address of={item.to} /> },
  { name: 'Amount', right: true, cell: (item) => <TransferAmount transfer={item} /> },
  { name: 'Token contract', cell: ({ token: { address_hash: hash } }) => <a class="hash" href={`/address/${hash}`} data-address={hash.toLowerCase()} title={hash}>{shortHash(hash, 6, 4)}</a> },
];

/** The transfers of one token, whose contract is that of the page. */
export const transfersOfToken = transferColumns.slice(0, -1);

export const transferId = (item: TokenTransfer) => `${item.block_number}-${item.log_index}-${item.total?.token_id ?? ''}-${item.total?.value ?? ''}`;

export const internalColumns: Column<InternalTransaction>[] = [
  { name: 'Transaction', cell: (item) => <TxHash hash={item.transaction_hash} /> },
  { name: 'Kind', cell: (item) => <span class="row"><span class="method">{item.type}</span>{item.success === false && <Outcome status="error" result={item.error} />}{item.success && item.is_undone && <UndoneBadge />}</span> },
  { name: 'Block', cell: (item) => <Height of={item.block_number} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.timestamp} /> },
  { name: 'From', cell: (item) => <Address of={item.from} /> },
  { name: 'To', cell: (item) => <To of={item} /> },
  { name: 'Value', right: true, cell: (item) => <Coins wei={item.value} /> },
];

export const internalId = (item: InternalTransaction) => `${item.transaction_hash}-${item.index}`;

export const withdrawalColumns: Column<Withdrawal>[] = [
  { name: 'Index', cell: (item) => count(item.index) },
  { name: 'Validator', cell: (item) => count(item.validator_index) },
  { name: 'Receiver', cell: (item) => <Address of={item.receiver} /> },
  { name: 'Amount', right: true, cell: (item) => <Coins wei={item.amount} /> },
];

/** The withdrawals of all receivers, with their blocks. */
export const withdrawalsOfChain: Column<Withdrawal>[] = [
  ...withdrawalColumns.slice(0, 2),
  { name: 'Block', cell: (item) => <Height of={item.block_number} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.timestamp} /> },
  ...withdrawalColumns.slice(2),
];

export const withdrawalsOfAddress: Column<Withdrawal>[] = [
  ...withdrawalColumns.slice(0, 2),
  { name: 'Block', cell: (item) => <Height of={item.block_number} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.timestamp} /> },
  withdrawalColumns[3] as Column<Withdrawal>,
];
