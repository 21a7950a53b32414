// An address: its facts, its holdings, and its lists.
import { withRetry } from '../api/retry.ts';
import { useLocation, useRoute } from 'preact-iso';
import { lazy } from 'preact-iso';
import { useApi } from '../api/use_api.ts';
import type { AddressPage, BalancePoint, Holding, Instance, InternalTransaction, Log, Page, TokenTransfer, Transaction, Withdrawal, Block } from '../api/types.ts';
import { count } from '../format/amount.ts';
import { Address as AddressLink } from '../parts/Address.tsx';
import { Coins, TokenName, Units } from '../parts/Amount.tsx';
import { Cards } from '../parts/list/Cards.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Choice, Order, type Orders } from '../parts/list/Order.tsx';
import { HideChoice } from '../parts/list/HideChoice.tsx';
import { Height, Plain, TxHash } from '../parts/Hash.tsx';
import { PrivateName } from '../parts/PrivateName.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { Failure, AnswerView } from '../parts/Answer.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { chosenTab, Tabs } from '../parts/Tabs.tsx';
import { Time, TimeHead } from '../parts/Time.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { isAddress, shortHash, shortName, visible } from '../format/hash.ts';
import { blockColumns, internalColumns, internalId, transactionColumns, transferColumns, transferId, transfersOfToken, withdrawalsOfAddress } from './columns.tsx';
import { LogCard } from './Logs.tsx';
import { CURSORS } from '../format/jump.ts';
import { Jump } from '../parts/list/Pages.tsx';
import { checksumNote } from '../format/query.ts';
import { isHiding, isSuspect, isWorthless } from '../state/hide_choice.ts';
import { delegateOf, nameOf } from '../state/address_names.ts';

const Invalid = lazy(withRetry(() => import('./Invalid.tsx').then((page) => page.Invalid)));
const Contract = lazy(withRetry(() => import('./contract/Contract.tsx').then((page) => page.Contract)));
const OperationList = lazy(withRetry(() => import('./Operations.tsx').then((page) => page.OperationList)));
const Approvals = lazy(withRetry(() => import('./address/Approvals.tsx').then((part) => part.Approvals)));
const Activity = lazy(withRetry(() => import('../charts/Activity.tsx').then((part) => part.AddressActivity)));
const BalanceChart = lazy(withRetry(() => import('../charts/BalanceChart.tsx').then((part) => part.BalanceChart)));

interface TabCounts {
  transactions_count: number | null; token_transfers_count: number | null; token_balances_count: number | null; logs_count: number | null;
  internal_transactions_count: number | null; withdrawals_count: number | null; validations_count: number | null;
}
interface Counters { transactions_count: string | null; token_transfers_count: string | null; gas_usage_count: string | null; validations_count: string | null }

/** The names of tabs in other explorers. */
const TAB_ALIASES = {
  transactions: 'txs', 'token-transfers': 'token_transfers', internal: 'internal_txns', 'internal-transactions': 'internal_txns',
  token_holdings: 'tokens', tokens_nfts: 'nft', nfts: 'nft', code: 'contract', analytics: 'activity', charts: 'activity', read_contract: 'contract', readContract: 'contract', events: 'logs', internaltx: 'internal_txns', tokentxns: 'token_transfers', nfttransfers: 'token_transfers', asset_tokens: 'tokens', mine: 'blocks_validated',
};

/** Counts of a list stop at 51. */
const upTo = (value: number | null | undefined) => (value === null || value === undefined ? null : value > 50 ? '50+' : String(value));

export function Address() {
  const hash = useRoute().params['hash'] ?? '';
  return isAddress(hash) ? <ValidAddress hash={hash} /> : <Invalid what="address" text={hash} />;
}

function ValidAddress({ hash }: { hash: string }) {
  const { params, query } = useRoute();
  const page = useApi<AddressPage>(`/api/v2/addresses/${hash}`);
  const answer = useApi<TabCounts>(`/api/v2/addresses/${hash}/tabs-counters`);
  const counts = answer.data;
  const isLoading = !counts && !answer.problem;
  const about = page.data;
  // Only addresses with code, their own or that of a delegate, can send user operations.
  const operations = useApi<Page<unknown>>(about?.is_contract ? `/api/v2/proxy/account-abstraction/operations?sender=${hash}&page_size=1` : null);
  const name = about && nameOf(about);
  useTitle(name ?? `Address ${shortHash(hash)}`);
  const tabs = [
    { id: 'txs', name: 'Transactions', count: upTo(counts?.transactions_count), isLoading },
    { id: 'token_transfers', name: 'Token transfers', count: upTo(counts?.token_transfers_count), isLoading },
    { id: 'internal_txns', name: 'Internal', count: upTo(counts?.internal_transactions_count), isLoading },
    { id: 'tokens', name: 'Tokens', count: upTo(counts?.token_balances_count), isLoading },
    { id: 'nft', name: 'NFTs' },
    ...(about?.token ? [{ id: 'token', name: 'This token' }] : []),
    ...(operations.data?.items.length || (params['tab'] ?? query['tab']) === 'user_ops' ? [{ id: 'user_ops', name: 'User operations' }] : []),
    { id: 'approvals', name: 'Approvals' },
    { id: 'logs', name: 'Logs', count: upTo(counts?.logs_count), isLoading },
    { id: 'contract', name: about && delegateOf(about) ? 'Delegate code' : 'Contract' },
    { id: 'coin_balance_history', name: 'Balances' },
    { id: 'activity', name: 'Activity' },
    { id: 'withdrawals', name: 'Withdrawals', count: upTo(counts?.withdrawals_count) },
    { id: 'blocks_validated', name: 'Blocks produced', count: upTo(counts?.validations_count) },
  ].filter((tab) => !((tab.id === 'withdrawals' || tab.id === 'blocks_validated') && (isLoading || tab.count === '0')) && !(tab.id === 'contract' && about?.is_contract === false));
  const tab = chosenTab(tabs, params['tab'] ?? query['tab'], TAB_ALIASES);
  const kind = about === undefined ? 'Address' : delegateOf(about) ? 'Account' : about.token ? 'Token contract' : about.is_contract === true ? 'Contract' : about.is_contract === false ? 'Account' : 'Address';
  return (
    <>
      <h1 class="row">{kind} {name && <bdi class="name">{shortName(name, 60)}</bdi>}</h1>
      {checksumNote(hash) && <p class="failure compact" role="note">{checksumNote(hash)}.</p>}
      <p class="subject"><Plain hash={about?.hash ?? hash} what="address" /> <PrivateName address={hash} /></p>
      <AnswerView answer={page} lines={30}>{(data) => <Details of={data} counts={counts} />}</AnswerView>
      {(about || page.problem) && (
        <>
          <Tabs tabs={tabs} chosen={tab} base={`/address/${hash}`} />
          <section aria-label={tab}><TabContent tab={tab} hash={hash} about={about} /></section>
        </>
      )}
    </>
  );
}

/** The first and the last transaction; if blocks are missing, the first and the last that are indexed. */
function FirstAndLastTransaction({ hash, isComplete }: { hash: string; isComplete: boolean | undefined }) {
  const path = `/api/v2/addresses/${hash}/transactions?items_count=1`;
  const [last, first] = [useApi<Page<Transaction>>(path), useApi<Page<Transaction>>(`${path}&order=asc`)];
  const shown = (answer: typeof last) => {
    const item = answer.data?.items[0];
    if (item) return <span class="row"><TxHash hash={item.hash} /> <Time at={item.timestamp} />{isComplete === false && <span class="quiet">in indexed blocks</span>}</span>;
    return answer.data && isComplete !== undefined ? <span class="quiet">{isComplete ? 'none' : 'none in indexed blocks'}</span> : answer.problem ? <Unknown why={answer.problem.message} /> : '…';
  };
  return <><Fact name="Last transaction">{shown(last)}</Fact><Fact name="First transaction" hint={isComplete === false ? 'Not all blocks are indexed here: there may be earlier ones' : undefined}>{shown(first)}</Fact></>;
}

/** If blocks are missing, counts are those of the lists, which stop at 51. */
function Details({ of, counts }: { of: AddressPage; counts: TabCounts | undefined }) {
  const counters = useApi<Counters>(`/api/v2/addresses/${of.hash}/counters`);
  const indexed = (count: number | null | undefined) => (count === null || count === undefined ? <Unknown /> : <span>{upTo(count)} <span class="quiet">in indexed blocks</span></span>);
  const value = (name: 'transactions_count' | 'token_transfers_count') => (counters.data ? count(counters.data[name]) ?? indexed(counts?.[name]) : counters.problem ? <span class="unknown" title={counters.problem.message}>unknown</span> : '…');
  return (
    <section class="panel">
      <Facts>
        <Fact name="Balance"><span class="row"><Coins wei={of.coin_balance} whole />{of.block_number_balance_updated_at !== null && <span class="quiet">after block <Height of={of.block_number_balance_updated_at} /></span>}</span></Fact>
        <Fact name="Transactions">{value('transactions_count')}</Fact>
        <Fact name="Token transfers" hint="Sent or received by this address">{value('token_transfers_count')}</Fact>
        <FirstAndLastTransaction hash={of.hash} isComplete={counters.data || counters.problem ? Boolean(counters.data?.transactions_count) : undefined} />
        {of.ens_domain_name && <Fact name="ENS name"><bdi>{visible(of.ens_domain_name)}</bdi></Fact>}
        {of.public_tags.length > 0 && <Fact name="Tags"><span class="row">{of.public_tags.map((tag) => <span key={tag.display_name} class="badge">{shortName(tag.display_name ?? '', 40)}</span>)}</span></Fact>}
        {of.token && <Fact name="Token"><span class="row"><TokenName token={of.token} /> <span class="quiet">{of.token.type}</span></span></Fact>}
        {of.is_contract !== false && !delegateOf(of) && <Fact name="Created by">{of.creator_address_hash ? <span class="row"><AddressLink of={{ hash: of.creator_address_hash }} />{of.creation_transaction_hash && <><span class="quiet">in</span> <TxHash hash={of.creation_transaction_hash} /></>}</span> : <Unknown />}</Fact>}
        {of.implementations.length > 0 && <Fact name={delegateOf(of) ? 'Delegated to' : 'Proxy for'}><span class="stack">{of.implementations.map((item) => <span key={item.address_hash} class="row"><AddressLink of={{ hash: item.address_hash }} />{item.name && <span class="quiet">{shortName(item.name)}</span>}</span>)}<span class="quiet">{PROXIES[of.proxy_type ?? ''] ?? of.proxy_type}</span></span></Fact>}
      </Facts>
    </section>
  );
}

/** The standards by which proxies name their implementation. */
const PROXIES: Record<string, string> = { eip7702: 'EIP-7702', eip1167: 'EIP-1167, a minimal proxy', eip1967: 'EIP-1967', eip1822: 'EIP-1822', eip1967_beacon: 'EIP-1967, a beacon proxy', eip2535: 'EIP-2535, a diamond', eip897: 'EIP-897', master_copy: 'Safe' };

/** The filter of a list that its file and its scan take over: the side, and the token standard. */
interface ListFilter { side?: string | undefined; type?: string | undefined }
const SIDE_WORDS: Record<string, string> = { from: 'Out', to: 'In' };

function csv(hash: string, list: string, { side }: ListFilter = {}) {
  const filter = side ? `?filter_type=address&filter_value=${side}` : '';
  const path = `/api/v2/addresses/${hash}/${list}/csv${filter}`;
  return (
    <>
      <a class="button small" href={path} download>{side ? `All ${SIDE_WORDS[side] ?? side} as CSV` : 'All as CSV'}</a>
      {list !== 'logs' && <a class="button small" href={`${path}${filter ? '&' : '?'}columns=accounting`} title="The same columns for transactions, internal transactions and token transfers: direction, counterparty, amount in whole units, fee" download>CSV for accounting</a>}
    </>
  );
}

function scan(kind: string, hash: string, { side, type }: ListFilter = {}) {
  const party = side === 'from' ? 'fromAddress' : side === 'to' ? 'toAddress' : 'address';
  return <a class="button small" href={`/scan?kind=${kind}&${party}=${hash}${type ? `&type=${type}` : ''}`}>Open as scan</a>;
}

const holdings: Column<Holding>[] = [
  { name: 'Token', cell: (item) => <TokenName token={item.token} /> },
  { name: 'Name', cell: (item) => (item.token.name ? <bdi>{shortName(item.token.name, 40)}</bdi> : <Unknown />) },
  { name: 'Contract', cell: (item) => <AddressLink of={{ hash: item.token.address_hash }} copy /> },
  { name: 'Standard', cell: (item) => item.token.type },
  { name: 'Balance', right: true, cell: (item) => <Units value={item.value} decimals={item.token.type === 'ERC-20' ? item.token.decimals : '0'} /> },
];
const ids: Column<Instance>[] = [
  { name: 'Token', cell: (item) => <TokenName token={item.token} /> },
  { name: 'Id', cell: (item) => <a class="id" href={`/token/${item.token.address_hash}/instance/${item.id}`} title={item.id}>#{shortHash(item.id, 12, 6)}</a> },
  { name: 'Standard', cell: (item) => item.token_type },
  { name: 'Count', right: true, cell: (item) => <Units value={item.value} decimals="0" /> },
];
const balances: Column<BalancePoint>[] = [
  { name: 'Block', cell: (item) => <Height of={item.block_number} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.block_timestamp} /> },
  { name: 'Change', right: true, cell: (item) => <Coins wei={item.delta} signed /> },
  { name: 'Balance', right: true, cell: (item) => <Coins wei={item.value} digits={10} /> },
];

/** The orders of the list of transactions. */
const ORDERS: Orders = [['Newest first', {}], ['Oldest first', { order: 'asc' }], ['By value', { sort: 'value' }], ['By fee', { sort: 'fee' }]];
const SIDES: [string, string][] = [['', 'All'], ['from', 'Out'], ['to', 'In']];

function TabContent({ tab, hash, about }: { tab: string; hash: string; about: AddressPage | undefined }) {
  const { query } = useLocation();
  const path = `/addresses/${hash}`;
  const filter = query['filter'];
  switch (tab) {
    case 'txs': return (
      <>
        <div class="tools"><Choice name="filter" choices={SIDES} /><Order orders={ORDERS} />{!query['sort'] && <Jump cursor={query['order'] === 'asc' ? CURSORS.transactionsFrom : CURSORS.transactions} />}</div>
        <PagedTable<Transaction> path={`${path}/transactions`} query={{ filter, sort: query['sort'], order: query['order'] }} columns={transactionColumns} id={(item) => item.hash} label="Transactions" empty="No transactions in loaded blocks." whole={<>{scan('transactions', hash, { side: filter })}{csv(hash, 'transactions', { side: filter })}</>} />
      </>
    );
    case 'token_transfers': return (
      <>
        <div class="tools"><Choice name="filter" choices={SIDES} /><Choice name="type" choices={[['', 'All tokens'], ['ERC-20', 'ERC-20'], ['ERC-721', 'ERC-721'], ['ERC-1155', 'ERC-1155']]} /><HideChoice what="zero-value and look-alike tokens" /><Jump cursor={CURSORS.transfers} /></div>
        <PagedTable<TokenTransfer> path={`${path}/token-transfers`} query={{ filter, type: query['type'] }} columns={transferColumns} id={transferId} isHidden={isHiding.value ? isWorthless : undefined} label="Token transfers" empty="No token transfers in loaded blocks." whole={<>{scan('token-transfers', hash, { side: filter, type: query['type'] })}{!query['type'] && csv(hash, 'token-transfers', { side: filter })}</>} />
      </>
    );
    case 'token': return <PagedTable<TokenTransfer> path={`/tokens/${hash}/transfers`} columns={transfersOfToken} id={transferId} label="Transfers of the token" empty="No transfers in loaded blocks." whole={<a class="button small" href={`/token/${hash}`}>Holders and supply</a>} />;
    case 'internal_txns': return (
      <>
        <div class="tools"><Choice name="filter" choices={SIDES} /><Jump cursor={CURSORS.calls} /></div>
        <PagedTable<InternalTransaction> path={`${path}/internal-transactions`} query={{ filter }} columns={internalColumns} id={internalId} label="Internal transactions" empty="No internal transactions in blocks whose calls are loaded." whole={<>{scan('internal-transactions', hash, { side: filter })}{csv(hash, 'internal-transactions', { side: filter })}</>} />
      </>
    );
    case 'tokens': return (
      <>
        <div class="tools"><HideChoice what="look-alike tokens" /></div>
        <PagedTable<Holding> path={`${path}/tokens`} columns={holdings} id={(item) => item.token.address_hash} isHidden={isHiding.value ? (item) => isSuspect(item.token) : undefined} label="Tokens of the address" empty="No tokens." />
      </>
    );
    case 'nft': return <PagedTable<Instance> path={`${path}/nft`} columns={ids} id={(item) => `${item.token.address_hash}-${item.id}`} label="NFTs of the address" empty="No NFTs." />;
    case 'user_ops': return <OperationList query={{ sender: hash }} />;
    case 'approvals': return <Approvals hash={hash} />;
    case 'logs': return <Cards<Log> path={`${path}/logs`} query={{ topic: query['topic'] }} card={(log) => <LogCard key={`${log.block_number}-${log.index}`} log={log} token={about?.token ?? null} showBlock />} empty="No logs in loaded blocks." whole={<>{scan('logs', hash)}{csv(hash, 'logs')}</>} />;
    case 'contract': return <Contract hash={hash} implementation={about && !delegateOf(about) ? about.implementations[0]?.address_hash ?? null : null} />;
    case 'activity': return <Activity hash={hash} isContract={about?.is_contract ?? null} />;
    case 'coin_balance_history': return (
      <BalanceChart hash={hash}>
        <PagedTable<BalancePoint> path={`${path}/coin-balance-history`} columns={balances} id={(item) => String(item.block_number)} label="Balances" empty="No balance changes." />
      </BalanceChart>
    );
    case 'withdrawals': return <PagedTable<Withdrawal> path={`${path}/withdrawals`} columns={withdrawalsOfAddress} id={(item) => String(item.index)} label="Withdrawals" empty="No withdrawals in loaded blocks." />;
    case 'blocks_validated': return <PagedTable<Block> path={`${path}/blocks-validated`} columns={blockColumns.filter((column) => column.name !== 'Fee recipient')} id={(item) => item.hash} label="Blocks produced" empty="No loaded block was produced by this address." />;
    default: return <Failure problem={{ status: 404, message: count(tab) ?? '', missing: [] } as never} />;
  }
}
