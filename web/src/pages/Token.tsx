// The page of a token, with transfers, holders and ids, and the page of one id.
import { withRetry } from '../api/retry.ts';
import type { ComponentChildren } from 'preact';
import { lazy, useRoute } from 'preact-iso';
import { useApi } from '../api/use_api.ts';
import type { Holder, Instance as InstanceObject, Token as TokenObject, TokenTransfer } from '../api/types.ts';
import { percent } from '../format/amount.ts';
import { isAddress, shortHash, shortName, visible } from '../format/hash.ts';
import { checksumNote } from '../format/query.ts';
import { suspicionOf } from '../format/suspect.ts';
import { Address } from '../parts/Address.tsx';
import { TokenName, Units } from '../parts/Amount.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Height, Plain } from '../parts/Hash.tsx';
import { PagedTable } from '../parts/list/PagedTable.tsx';
import { AnswerView } from '../parts/Answer.tsx';
import type { Column } from '../parts/list/Table.tsx';
import { chosenTab, Tabs } from '../parts/Tabs.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { chain } from '../state/chain.ts';
import { knownTokens } from '../state/known_tokens.ts';
import { health } from '../state/pulse.ts';
import { Metadata } from './token/Metadata.tsx';
import { countOrUnknown, transferId, transfersOfToken } from './columns.tsx';

const Invalid = lazy(withRetry(() => import('./Invalid.tsx').then((page) => page.Invalid)));
const Activity = lazy(withRetry(() => import('../charts/Activity.tsx').then((part) => part.ContractActivity)));

/** How many blocks counts may be behind the newest one: more than are unsettled on any chain. */
const MAX_BEHIND = 10_000;

interface Counters { transfers_count: string | null; token_holders_count: string | null }

export function Token() {
  const hash = useRoute().params['hash'] ?? '';
  return isAddress(hash) ? <ValidToken hash={hash} /> : <Invalid what="token" text={hash} />;
}

function ValidToken({ hash }: { hash: string }) {
  const { params, query } = useRoute();
  const answer = useApi<TokenObject>(`/api/v2/tokens/${hash}`);
  const counters = useApi<Counters>(`/api/v2/tokens/${hash}/counters`);
  const token = answer.data;
  useTitle(token?.name ?? `Token ${shortHash(hash)}`);
  const tabs = [
    { id: 'token_transfers', name: 'Transfers' }, { id: 'holders', name: 'Holders' },
    ...(token && token.type !== 'ERC-20' ? [{ id: 'inventory', name: 'Inventory' }] : []),
    { id: 'activity', name: 'Activity' },
  ];
  const tab = chosenTab(tabs, params['tab'] ?? query['tab'], { transfers: 'token_transfers', instances: 'inventory', analytics: 'activity', charts: 'activity' });
  const path = `/tokens/${hash}`;
  const head = health.value?.report?.data.latest_block_number;
  // Counts of an old block, such as those before a gap, say little of the token now.
  const isOld = Boolean(token?.holders_count && token.block_number && head && head - token.block_number > MAX_BEHIND);
  const after = token?.block_number ? <span class="quiet">after block <Height of={token.block_number} />{isOld && ': transfers since then are not counted'}</span> : null;
  const counted = (cell: ComponentChildren, value: string | null) => <span class="row">{cell}{value !== null && after}</span>;
  return (
    <>
      <h1 class="row">Token {token?.name && <bdi class="name">{shortName(token.name, 60)}</bdi>}{token && <span class="badge">{token.type}</span>}</h1>
      <p class="subject"><Plain hash={token?.address_hash ?? hash} what="address" /> <a class="button small" href={`/address/${token?.address_hash ?? hash}`}>Contract</a></p>
      {checksumNote(hash) && <p class="failure compact" role="note">{checksumNote(hash)}.</p>}
      <AnswerView answer={answer} lines={30}>{(data) => (
        <>
          {suspicionOf(data, chain.value, knownTokens()) && <p class="failure compact" role="note"><strong>Caution.</strong> {suspicionOf(data, chain.value, knownTokens())}.</p>}
          <section class="panel">
            <Facts>
              <Fact name="Symbol">{data.symbol ? <bdi>{shortName(data.symbol, 60)}</bdi> : <Unknown />}</Fact>
              {data.type === 'ERC-20' && <Fact name="Decimals" hint="The number of decimal places of an amount">{data.decimals ?? <Unknown />}</Fact>}
              <Fact name="Supply">{counted(<Units value={data.total_supply} decimals={data.type === 'ERC-20' ? data.decimals : '0'} whole />, data.total_supply)}</Fact>
              <Fact name="Holders">{counted(countOrUnknown(data.holders_count), data.holders_count)}</Fact>
              <Fact name="Transfers">{counters.data ? countOrUnknown(counters.data.transfers_count) : counters.problem ? <Unknown why={counters.problem.message} /> : '…'}</Fact>
            </Facts>
          </section>
          <Tabs tabs={tabs} chosen={tab} base={`/token/${hash}`} />
          <section aria-label={tab}>
            {tab === 'token_transfers' && <PagedTable<TokenTransfer> path={`${path}/transfers`} columns={transfersOfToken} id={transferId} label="Transfers" empty="No transfers in loaded blocks." whole={<><a class="button small" href={`/scan?kind=token-transfers&token=${hash}`}>Scan and download</a></>} />}
            {tab === 'holders' && <PagedTable<Holder> path={`${path}/holders`} columns={holders(data)} id={(item) => `${item.address.hash}-${item.token_id ?? ''}`} label="Holders" empty="No holders." />}
            {tab === 'activity' && <Activity hash={hash} />}
            {tab === 'inventory' && <PagedTable<InstanceObject> path={`${path}/instances`} columns={instances} id={(item) => item.id} label="Inventory" empty="No ids exist now." />}
          </section>
        </>
      )}</AnswerView>
    </>
  );
}

const holders = (token: TokenObject): Column<Holder>[] => [
  { name: 'Holder', cell: (item) => <Address of={item.address} copy /> },
  { name: 'Balance', right: true, cell: (item) => <Units value={item.value} decimals={token.type === 'ERC-20' ? token.decimals : '0'} /> },
  { name: 'Share', right: true, cell: (item) => share(item.value, token.total_supply) },
];

function share(value: string | null, supply: string | null) {
  if (value === null || supply === null || supply === '0') return <Unknown />;
  const billionths = Number((BigInt(value) * 1_000_000_000n) / BigInt(supply));
  return percent((value === '0' ? 0 : Math.max(billionths, 1)) / 1e9);
}

const instances: Column<InstanceObject>[] = [
  { name: 'Id', cell: (item) => <a class="id" href={`/token/${item.token.address_hash}/instance/${item.id}`} title={item.id}>#{shortHash(item.id, 20, 8)}</a> },
  { name: 'Owner', cell: (item) => <Address of={item.owner} /> },
];

export function Instance() {
  const { params } = useRoute();
  const [hash, id] = [params['hash'] ?? '', params['id'] ?? ''];
  return isAddress(hash) && /^\d{1,78}$/.test(id) ? <ValidInstance hash={hash} id={id} /> : <Invalid what="token" text={`${hash}/instance/${id}`} />;
}

function ValidInstance({ hash, id }: { hash: string; id: string }) {
  const answer = useApi<InstanceObject>(`/api/v2/tokens/${hash}/instances/${id}`);
  useTitle(`Id ${shortHash(id)}`);
  return (
    <>
      <h1 class="row">Id <bdi class="name">#{shortHash(id, 20, 8)}</bdi></h1>
      <AnswerView answer={answer} lines={30}>{(data) => (
        <><section class="panel">
          <Facts>
            <Fact name="Token"><span class="row"><TokenName token={data.token} />{data.token.name && <bdi class="quiet">{visible(data.token.name)}</bdi>}</span></Fact>
            <Fact name="Id"><Plain hash={data.id} what="id" /></Fact>
            <Fact name="Owner"><Address of={data.owner} whole copy /></Fact>
            <Fact name="Standard">{data.token_type}</Fact>
          </Facts>
        </section>
        <Metadata token={hash} type={data.token_type} id={data.id} />
        <h2>Transfers of the id</h2>
        <PagedTable<TokenTransfer> path={`/tokens/${hash}/instances/${id}/transfers`} columns={transfersOfToken} id={transferId} label="Transfers of the id" empty="No transfers in loaded blocks." /></>
      )}</AnswerView>
    </>
  );
}
