// A transaction: a summary sentence, its facts, and its tabs.
import { withRetry } from '../api/retry.ts';
import { lazy, useRoute } from 'preact-iso';
import { useApi } from '../api/use_api.ts';
import type { Log, TokenTransfer, Transaction } from '../api/types.ts';
import { count, percent } from '../format/amount.ts';
import { isHash, textOf, visible } from '../format/hash.ts';
import { feeParts, recipientOf } from '../format/kind.ts';
import { isBareRevert, reasonText } from '../format/trace/reason.ts';
import { Address } from '../parts/Address.tsx';
import { Coins, Gwei, TransferAmount } from '../parts/Amount.tsx';
import { ChainCalls, ChainFacts, Parts } from '../parts/ChainFacts.tsx';
import { Delegations } from '../parts/Delegations.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Finality } from '../parts/Finality.tsx';
import { Bytes, Height, Plain } from '../parts/Hash.tsx';
import { Outcome } from '../parts/Method.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import { chosenTab, Tabs } from '../parts/Tabs.tsx';
import { Time } from '../parts/Time.tsx';
import { useTitle } from '../parts/title.ts';
import { NetChanges, StateChanges } from './tx/Changes.tsx';
import { countOrUnknown, To, transferColumns, transferId } from './columns.tsx';
import { Call, LogCard } from './Logs.tsx';
import { Summary } from './tx/Summary.tsx';
import { Cards } from '../parts/list/Cards.tsx';

const Invalid = lazy(withRetry(() => import('./Invalid.tsx').then((page) => page.Invalid)));
const Proof = lazy(withRetry(() => import('./tx/Proof.tsx').then((part) => part.Proof)));
const Raw = lazy(withRetry(() => import('./tx/Raw.tsx').then((part) => part.Raw)));
const Trace = lazy(withRetry(() => import('./tx/Trace.tsx').then((part) => part.Trace)));

const NotIndexed = lazy(withRetry(() => import('./tx/NotIndexed.tsx').then((part) => part.NotIndexed)));
const OperationList = lazy(withRetry(() => import('./Operations.tsx').then((page) => page.OperationList)));

const TABS = [
  { id: 'index', name: 'Overview' }, { id: 'logs', name: 'Logs' }, { id: 'token_transfers', name: 'Token transfers' },
  { id: 'trace', name: 'Calls' }, { id: 'state', name: 'State changes' }, { id: 'raw', name: 'Raw' }, { id: 'proof', name: 'Proof' },
];
/** The tab of a transaction that calls an EntryPoint with a bundle; for other transactions it opens by its URL. */
const OPERATIONS = { id: 'user_ops', name: 'User operations' };
const isBundle = (of: Transaction | undefined) => BUNDLES.includes(of?.raw_input?.slice(0, 10) ?? '');
/** `handleOps` and `handleAggregatedOps` of EntryPoints 0.6 and later ones. */
const BUNDLES = ['0x1fad948c', '0x4b1d7cf5', '0x765e827f', '0xdbed18e0'];
const TAB_ALIASES = { eventlog: 'logs', internal: 'trace', internal_txns: 'trace', raw_trace: 'raw', statechange: 'state', tokentxns: 'token_transfers', 'token-transfers': 'token_transfers', 'internal-transactions': 'trace', calls: 'trace', 'state-changes': 'state' };

/** The result of the API if the reason is only in the calls, which are not loaded. */
const AWAITING_CALLS = 'awaiting_internal_transactions';

export function Tx() {
  const hash = useRoute().params['hash'] ?? '';
  return isHash(hash) ? <ValidTx hash={hash} /> : <Invalid what="transaction" text={hash} />;
}

function ValidTx({ hash }: { hash: string }) {
  const { params, query } = useRoute();
  const path = `/transactions/${hash}`;
  const transaction = useApi<Transaction>(`/api/v2${path}`);
  useTitle(`Transaction ${hash.slice(0, 10)}…`);
  const tabName = params['tab'] ?? query['tab'];
  const tabs = isBundle(transaction.data) || tabName === OPERATIONS.id ? [...TABS, OPERATIONS] : TABS;
  const tab = chosenTab(tabs, tabName, TAB_ALIASES);
  return (
    <>
      <h1 class="row">Transaction {transaction.data && <Outcome status={transaction.data.status} result={transaction.data.result} />}{transaction.data?.chain_facts?.type && <span class="badge">{transaction.data.chain_facts.type}</span>}</h1>
      <p class="subject"><Plain hash={hash} what="hash" /></p>
      <Tabs tabs={tabs} chosen={tab} base={`/tx/${hash}`} />
      {transaction.problem?.status === 404 && !transaction.data ? <NotIndexed problem={transaction.problem} /> : <AnswerView answer={transaction} lines={30}>{(data) => (
        <section aria-label={tab}>
          {tab === 'index' && <Summary hash={hash}><Overview of={data} /></Summary>}
          {tab === 'logs' && <Cards<Log> path={`${path}/logs`} card={(log) => <LogCard key={log.index} log={log} token={tokenIn(data, log.address.hash)} />} empty="The transaction emitted no logs." />}
          {tab === 'token_transfers' && <PagedTable<TokenTransfer> path={`${path}/token-transfers`} columns={transferColumns.filter((column) => ['From', 'To', 'Amount', 'Token contract'].includes(column.name))} id={transferId} label="Token transfers" empty="No token transfers." />}
          {tab === 'trace' && <Trace hash={hash} />}
          {tab === 'state' && <StateChanges hash={hash} />}
          {tab === 'raw' && <Raw hash={hash} />}
          {tab === 'user_ops' && <OperationList query={{ transaction_hash: hash }} />}
          {tab === 'proof' && <Proof hash={hash} />}
        </section>
      )}</AnswerView>}
    </>
  );
}

/** A token, by the transfers of the transaction. */
const tokenIn = (of: Transaction, address: string) => of.token_transfers?.find(({ token }) => token.address_hash.toLowerCase() === address.toLowerCase())?.token ?? null;

/** The revert reason, else the error of the node. */
function failureReason({ result, revert_reason }: Transaction): string {
  if (result === AWAITING_CALLS) return 'The reason is not known here: the calls of its block are not loaded.';
  const reason = reasonText(revert_reason);
  if (reason) return `Reverted: ${reason}`;
  if (result && isBareRevert(result)) return 'Reverted, and no reason is known here.';
  return result ? visible(result.charAt(0).toUpperCase() + result.slice(1, 300)) : '';
}

/** The hashes of the blobs and their fees; nodes store the blobs themselves for some weeks only. */
function Blobs({ of, hashes }: { of: Transaction; hashes: string[] }) {
  return (
    <section class="panel">
      <header><h2>Blobs</h2><span class="count">{hashes.length}</span></header>
      <Facts>
        <Fact name="Versioned hashes"><span class="stack">{hashes.map((hash) => <Plain key={hash} hash={hash} what="versioned hash" />)}</span></Fact>
        <Fact name="Blob gas used">{countOrUnknown(of.blob_gas_used)}</Fact>
        <Fact name="Blob gas price"><span class="row"><Gwei wei={of.blob_gas_price} whole /> <span class="quiet">max</span> <Gwei wei={of.max_fee_per_blob_gas} whole /></span></Fact>
        <Fact name="Blob fee" hint="Burnt entirely, and part of the fee above"><Coins wei={of.burnt_blob_fee} whole /></Fact>
      </Facts>
    </section>
  );
}

function Overview({ of }: { of: Transaction }) {
  // The input of a transfer to an account is not a call, and may be a message.
  const message = of.to && !of.decoded_input && !of.transaction_types.includes('contract_call') && of.raw_input && of.raw_input !== '0x' ? textOf(of.raw_input) : null;
  return (
    <>
      {of.status === 'error' && <p class="failure compact" role="note"><strong>It failed.</strong> <span>{failureReason(of)}</span>{of.has_error_in_internal_transactions && <> <a class="button small" href={`/tx/${of.hash}?tab=trace`}>Show the failed call</a></>}</p>}
      <section class="panel">
        <Facts>
          <Fact name="From"><Address of={of.from} whole copy /></Fact>
          <Fact name={recipientOf(of) === 'creation' ? 'Created' : 'To'}>{of.to ? <Address of={of.to} whole copy /> : <To of={of} />}</Fact>
          <Fact name="Value"><Coins wei={of.value} whole /></Fact>
          <Fact name="Fee"><span class="row"><Coins wei={of.fee.value} whole />{of.fee.type === 'maximum' && <span class="quiet">at most</span>}</span>{feeParts(of).length > 0 && <Parts of={feeParts(of)} />}</Fact>
          <Fact name="Block"><span class="row"><Height of={of.block_number} /> <span class="quiet">position {of.position}, {count(of.confirmations)} confirmation{of.confirmations === 1 ? '' : 's'}</span></span></Fact>
          <Fact name="Finality"><Finality block={of.block_number} /></Fact>
          <Fact name="Time"><Time at={of.timestamp} both /></Fact>
          {of.token_transfers && of.token_transfers.length > 0 && (
            <Fact name="Token transfers">
              <div class="stack">
                {of.token_transfers.map((transfer, index) => <div key={index} class="row"><Address of={transfer.from} /> <span class="quiet">→</span> <Address of={transfer.to} /> <TransferAmount transfer={transfer} whole /></div>)}
                {of.token_transfers_overflow && <a href={`/tx/${of.hash}?tab=token_transfers`}>All token transfers</a>}
              </div>
            </Fact>
          )}
        </Facts>
      </section>
      <NetChanges hash={of.hash} from={of.from.hash}>
        <section class="panel">
          <header><h2>Gas and position</h2></header>
          <Facts>
            <Fact name="Gas used"><span>{countOrUnknown(of.gas_used)} of {countOrUnknown(of.gas_limit)}{of.gas_used !== null && of.gas_limit !== null && <span class="quiet"> ({percent(Number(of.gas_used) / Number(of.gas_limit))})</span>}</span></Fact>
            <Fact name="Gas price"><Gwei wei={of.gas_price} whole /></Fact>
            {of.max_fee_per_gas !== null && <Fact name="Max fee"><span class="row"><Gwei wei={of.max_fee_per_gas} whole /> <span class="quiet">max priority fee</span> <Gwei wei={of.max_priority_fee_per_gas} whole /></span></Fact>}
            {of.base_fee_per_gas !== null && <Fact name="Base fee"><Gwei wei={of.base_fee_per_gas} whole /></Fact>}
            {of.base_fee_per_gas !== null && <Fact name="Burnt"><Coins wei={of.transaction_burnt_fee} whole /></Fact>}
            <Fact name="Type and nonce"><span>type {of.type ?? 'unknown'}{of.chain_facts?.type && ` (${of.chain_facts.type})`}, nonce {countOrUnknown(of.nonce)}</span></Fact>
            <ChainFacts of={of.chain_facts?.facts} />
            {of.authorization_list && of.authorization_list.length > 0 && <Fact name="Delegations"><Delegations of={of.authorization_list} block={of.block_number} /></Fact>}
          </Facts>
        </section>
        {of.blob_versioned_hashes && of.blob_versioned_hashes.length > 0 && <Blobs of={of} hashes={of.blob_versioned_hashes} />}
        {of.chain_facts?.calls && <ChainCalls of={of.chain_facts.calls} all={of.chain_facts.calls_count ?? 0} />}
        <section class="panel">
          <header><h2>Input</h2></header>
          {of.decoded_input && <Call of={of.decoded_input} token={of.to && tokenIn(of, of.to.hash)} />}
          {message && <p>As text: <q class="value">{message.length > 2000 ? `${message.slice(0, 2000)}…` : message}</q></p>}
          <Bytes data={of.raw_input} what="input" />
          {of.status === 'error' && of.revert_reason && <><h3>Revert reason</h3>{'raw' in of.revert_reason ? <Bytes data={of.revert_reason.raw} what="reason" /> : <Call of={of.revert_reason} />}</>}
        </section>
      </NetChanges>
    </>
  );
}
