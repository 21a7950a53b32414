// User operations (ERC-4337): lists, and the page of one.
import { useRoute } from 'preact-iso';
import type { ListedOperation, UserOperation } from '../api/types.ts';
import { useApi } from '../api/use_api.ts';
import { count } from '../format/amount.ts';
import { shortHash } from '../format/hash.ts';
import { reasonText } from '../format/trace/reason.ts';
import { Address } from '../parts/Address.tsx';
import { Coins, Gwei } from '../parts/Amount.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Bytes, Height, Plain, TxHash } from '../parts/Hash.tsx';
import { Outcome } from '../parts/Method.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import { Time, TimeHead } from '../parts/Time.tsx';
import { useTitle } from '../parts/title.ts';
import { countOrUnknown } from './columns.tsx';
import { Call } from './Logs.tsx';

const ROOT = '/proxy/account-abstraction/operations';

const outcome = (status: boolean) => <Outcome status={status ? 'ok' : 'error'} result={status ? 'success' : 'its call failed'} />;

const columns: Column<ListedOperation>[] = [
  { name: 'Operation', cell: (item) => <a class="hash" href={`/op/${item.hash}`} title={item.hash}>{shortHash(item.hash)}</a> },
  { name: 'Outcome', cell: (item) => outcome(item.status) },
  { name: 'Block', cell: (item) => <Height of={Number(item.block_number)} /> },
  { name: 'Time', head: <TimeHead />, cell: (item) => <Time at={item.timestamp} /> },
  { name: 'Wallet', cell: (item) => <Address of={item.address} /> },
  { name: 'Transaction', cell: (item) => <TxHash hash={item.transaction_hash} /> },
  { name: 'EntryPoint', cell: (item) => <a href={`/address/${item.entry_point.hash}`}>{item.entry_point_version}</a> },
  { name: 'Fee', right: true, cell: (item) => <Coins wei={item.fee} /> },
];

/** The user operations of a transaction or of a wallet, or all of them. */
export function OperationList({ query }: { query?: Record<string, string> }) {
  const hiddenColumns = query?.['transaction_hash'] ? ['Block', 'Time', 'Transaction'] : query?.['sender'] ? ['Wallet'] : [];
  return <PagedTable<ListedOperation> path={ROOT} query={query} columns={columns.filter(({ name }) => !hiddenColumns.includes(name))} id={(item) => item.hash} label="User operations" empty="No user operations in loaded blocks." />;
}

export function Operations() {
  useTitle('User operations');
  return <><h1>User operations</h1><OperationList /></>;
}

const SPONSORS: Record<string, string> = {
  wallet_balance: 'the wallet, from its deposit', wallet_deposit: 'the wallet, which deposited for it', paymaster_sponsor: 'the paymaster', paymaster_hybrid: 'the paymaster, which deposited for it',
};

export function Operation() {
  const hash = useRoute().params['hash'] ?? '';
  const answer = useApi<UserOperation>(`/api/v2${ROOT}/${hash}`);
  useTitle(`User operation ${hash.slice(0, 10)}…`);
  return (
    <>
      <h1 class="row">User operation {answer.data && outcome(answer.data.status)}</h1>
      <p class="subject"><Plain hash={hash} what="hash" /></p>
      <AnswerView answer={answer} lines={30}>{(of) => <OperationDetails of={of} />}</AnswerView>
    </>
  );
}

function OperationDetails({ of }: { of: UserOperation }) {
  const call = of.decoded_execute_call_data ?? of.decoded_call_data;
  return (
    <>
      {!of.status && <p class="failure compact" role="note"><strong>Its call failed.</strong> {of.revert_reason && of.revert_reason !== '0x' && <span>Reverted: {reasonText({ raw: of.revert_reason })?.replace(/\.$/, '')}.</span>} The fee was paid all the same.</p>}
      {of.call_data === null && <p class="quiet" role="note">The calldata is not known here: the calls of its block are not loaded, or contain no bundle.</p>}
      <section class="panel">
        <Facts>
          <Fact name="Wallet"><Address of={of.sender} whole copy /></Fact>
          {of.execute_target && <Fact name="Calls"><Address of={of.execute_target} whole copy /></Fact>}
          <Fact name="Fee"><span class="row"><Coins wei={of.fee} whole /> <span class="quiet">paid by {SPONSORS[of.sponsor_type] ?? of.sponsor_type}</span></span></Fact>
          {of.paymaster && <Fact name="Paymaster"><Address of={of.paymaster} whole copy /></Fact>}
          <Fact name="Transaction"><span class="row"><TxHash hash={of.transaction_hash} whole /> <span class="quiet">bundle {of.bundle_index + 1}, operation {of.index + 1}</span></span></Fact>
          <Fact name="Block"><Height of={Number(of.block_number)} /></Fact>
          <Fact name="Time"><Time at={of.timestamp} both /></Fact>
          <Fact name="Bundler" hint="The account that was paid for the bundle">{of.bundler ? <Address of={of.bundler} whole copy /> : countOrUnknown(null)}</Fact>
          {of.factory && <Fact name="Created by" hint="The factory that created the wallet for this operation"><Address of={of.factory} whole copy /></Fact>}
          {of.aggregator && <Fact name="Aggregator"><Address of={{ hash: of.aggregator }} whole copy /></Fact>}
          <Fact name="EntryPoint"><span class="row"><Address of={of.entry_point} whole copy /> <span class="quiet">{of.entry_point_version}</span></span></Fact>
        </Facts>
      </section>
      <section class="panel">
        <header><h2>Call</h2></header>
        {call && <Call of={call} />}
        <Bytes data={of.execute_call_data ?? of.call_data} what="calldata" />
        {of.revert_reason && <><h3>Revert reason</h3><Bytes data={of.revert_reason} what="reason" /></>}
      </section>
      <section class="panel">
        <header><h2>Gas, nonce and signature</h2></header>
        <Facts>
          <Fact name="Gas used"><span>{count(of.gas_used)}{of.gas && <span class="quiet"> of at most {count(of.gas)}</span>}</span></Fact>
          <Fact name="Gas price"><Gwei wei={of.gas_price} whole /></Fact>
          <Fact name="Limits"><span>{countOrUnknown(of.call_gas_limit)} call, {countOrUnknown(of.verification_gas_limit)} verification, {countOrUnknown(of.pre_verification_gas)} pre-verification</span></Fact>
          {of.max_fee_per_gas && <Fact name="Max fee"><span class="row"><Gwei wei={of.max_fee_per_gas} whole /> <span class="quiet">max priority fee</span> <Gwei wei={of.max_priority_fee_per_gas} whole /></span></Fact>}
          <Fact name="Nonce"><Plain hash={of.nonce} what="nonce" /></Fact>
          <Fact name="Signature"><Bytes data={of.signature} what="signature" /></Fact>
        </Facts>
      </section>
    </>
  );
}
