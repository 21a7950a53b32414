// The status of the server: the age of the newest block, problems, and which blocks are loaded.
import { useEffect, useState } from 'preact/hooks';
import { getJson, Problem } from '../api/request.ts';
import { type Answer, useApi } from '../api/use_api.ts';
import type { FollowStatus, Health } from '../format/pulse.ts';
import type { Block, MissingRange, Page, StorageStats } from '../api/types.ts';
import { bytes, count, percent } from '../format/amount.ts';
import { span } from '../format/time.ts';
import { lengthOf, type Range, without } from '../format/ranges.ts';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Height } from '../parts/Hash.tsx';
import { type Column, Table } from '../parts/list/Table.tsx';
import { Failure, Loading, AnswerView } from '../parts/Answer.tsx';
import { Time } from '../parts/Time.tsx';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { chain } from '../state/chain.ts';
import { health, pulse, setNewestBlocks } from '../state/pulse.ts';
import { now } from '../state/view.ts';

interface ScanAnswer { end: { missing: MissingRange[]; headBlock: string } }

const PARTS = [
  ['transactions', 'Blocks and transactions', 'Headers, and bodies that match their roots'],
  ['logs', 'Receipts and logs', 'The outcomes of transactions, and the events that they emitted'],
  ['internal-transactions', 'Calls', 'The calls of contracts within transactions, as far as the source had them'],
] as const;

/** The newest block that another one replaced. */
function LastReorg({ answer }: { answer: Answer<Page<Block>> }) {
  if (!answer.data) return answer.problem ? <Unknown why={answer.problem.message} /> : <>…</>;
  const [block] = answer.data.items;
  if (!block) return <>none was seen</>;
  return <span class="row"><span>the newest replaced block <a class="height" href={`/block/${block.hash}`}>{count(block.height)}</a></span> <Time at={block.timestamp} both /> <a href="/blocks?type=reorg">All</a></span>;
}

export function Status() {
  useTitle('Status');
  const latest = health.value;
  const newest = useApi<Block[]>('/api/v2/main-page/blocks');
  const replaced = useApi<Page<Block>>('/api/v2/blocks?type=reorg&items_count=1');
  const version = useApi<{ backend_version: string }>('/api/v2/config/backend-version');
  useEffect(() => {
    if (newest.data) setNewestBlocks(newest.data);
  }, [newest.data]);
  const head = newest.data?.[0];
  const unreachable = latest && !latest.report ? new Problem(0, 'The API cannot be reached.') : undefined;
  const answer: Answer<Health> = { ...(newest.data || newest.problem ? { data: latest?.report ?? undefined, problem: unreachable } : {}), refetch: () => {} };
  const state = pulse.value;
  return (
    <>
      <h1>Status</h1>
      <section class="panel">
        <AnswerView answer={answer} lines={30}>{(data) => (
          <Facts>
            <Fact name="Server"><span class={data.healthy ? 'badge good' : 'badge bad'}>{data.state}</span></Fact>
            <Fact name="State" hint="The time since the last block, compared with the usual block interval">{state ? <span class="row"><span class={`badge ${state.tone}`}>{state.word}</span> {state.detail}</span> : '…'}</Fact>
            <Fact name="Chain">{chain.value.name || <Unknown />} {chain.value.known && <span class="quiet">(id {chain.value.id})</span>}</Fact>
            <Fact name="Newest block"><span class="row"><Height of={data.data.latest_block_number} /> {head && <Time at={head.timestamp} both />}</span></Fact>
            <Fact name="Behind now" hint="The age of the newest readable block, by the clock of this computer">{head ? <BehindNow at={head.timestamp} /> : newest.problem ? <Unknown why={newest.problem.message} /> : '…'}</Fact>
            <Fact name="Behind the node" hint="Compared with the newest block of the node that trawl-ingest follow has seen"><BehindNode head={data.data.latest_block_number} following={data.data.following} /></Fact>
            <Fact name="Gaps" hint="Between the loaded blocks">{data.data.ranges === null ? <Unknown /> : count(Math.max(data.data.ranges - 1, 0))}</Fact>
            <Fact name="Version">{version.data?.backend_version ?? (version.problem ? <Unknown /> : '…')}</Fact>
            <Fact name="Problems">{data.problems.length === 0 ? 'none' : <span class="row">{data.problems.map((problem) => <span key={problem.kind + problem.detail} class="bad">{problem.detail}</span>)}</span>}</Fact>
            <Fact name="Reorganisations" hint="Seen while the server followed the chain"><LastReorg answer={replaced} /></Fact>
            <Fact name="Damaged data">{data.damage === null ? 'none' : <code>{data.damage}</code>}</Fact>
            <Fact name="For programs"><span class="row"><a href="/api/health">Health (JSON)</a> <a href="/metrics">Metrics (Prometheus)</a></span></Fact>
          </Facts>
        )}</AnswerView>
      </section>
      {answer.data && <VerdictTotals />}
      {answer.data && <StorageOfServer />}
      {answer.data && <Parts head={answer.data.data.latest_block_number} />}
    </>
  );
}

function BehindNow({ at }: { at: string }) {
  const behind = now.value - Date.parse(at);
  return <>{behind >= 0 ? span(behind) : <>not behind: its time is {span(behind)} ahead of this clock</>}</>;
}

/** After this time without an answer, in milliseconds, a node may have newer blocks. */
const LONG_SILENCE = 60_000;

function BehindNode({ head, following }: { head: number | null; following: FollowStatus | null }) {
  if (!following || head === null) return <Unknown why={following ? 'No block is readable yet' : 'No node is followed'} />;
  const lag = Math.max(following.node_block - head, 0);
  const { silent_ms: silence } = following;
  const isSilent = silence === null || silence > LONG_SILENCE;
  return (
    <span class="row">{lag === 0 ? '0 blocks' : `${count(lag)} block${lag === 1 ? '' : 's'}`}
      <span class={isSilent ? 'bad' : 'quiet'}>{silence === null ? 'since when is not known' : <>as of {span(silence)} ago</>}{isSilent && ', the node may be further by now'}</span></span>
  );
}

type Totals = Record<'blocks' | 'verified' | 'partial' | 'unverified' | 'refused' | 'unknown', number>;

function VerdictTotals() {
  const { data, problem, refetch } = useApi<Totals>('/api/v2/stats/verdicts');
  if (problem) return <Failure problem={problem} refetch={refetch} compact />;
  const rows: [keyof Totals, string, string][] = [
    ['verified', 'Verified', 'Every check that applies ran and passed'],
    ['partial', 'Partial', 'What could be checked passed; the source lacked the rest'],
    ['unverified', 'Not checked', 'Checks were turned off'],
    ['refused', 'Refused', 'A check failed when the stored rows were verified again'],
    ['unknown', 'Unknown', 'No verdict is stored'],
  ];
  return (
    <section class="panel">
      <header><h2>Proven</h2>{data && data.blocks > 0 && <strong>{percent(data.verified / data.blocks)}</strong>}</header>
      <p class="quiet">How the loaded blocks were verified against their hashes. The page of a block lists its checks.</p>
      <Facts>
        {rows.filter(([name]) => !data || data[name] > 0 || name === 'verified').map(([name, title, hint]) => <Fact key={name} name={title} hint={hint}>{data ? `${count(data[name]) ?? ''} blocks` : '…'}</Fact>)}
      </Facts>
    </section>
  );
}

const TABLE_COLUMNS: Column<NonNullable<StorageStats['tables']>[number]>[] = [
  { name: 'Table', cell: (table) => <code>{table.name}</code> },
  { name: 'Rows', right: true, cell: (table) => count(table.rows) },
  { name: 'On disk', right: true, cell: (table) => bytes(table.bytes_on_disk) },
  { name: 'Parts', right: true, cell: (table) => count(table.parts) },
];

function StorageOfServer() {
  const { data, problem, refetch } = useApi<StorageStats>('/api/v2/stats/storage');
  if (problem) return <Failure problem={problem} refetch={refetch} compact />;
  const total = data?.tables?.reduce((sum, table) => sum + table.bytes_on_disk, 0);
  return (
    <section class="panel">
      <header><h2>Storage</h2>{total !== undefined && <strong>{bytes(total)}</strong>}</header>
      <Facts>
        <Fact name="Settled up to" hint="The highest block that no reorganisation can change any more">{data ? <Height of={data.blocks?.newest_settled ?? null} /> : '…'}</Fact>
        <Fact name="Newest blocks" hint="Blocks that a reorganisation may replace">{data?.blocks ? `${count(data.blocks.unsettled)}, of which ${count(data.blocks.in_memory)} in memory (${bytes(data.blocks.in_memory_bytes)})` : data ? <Unknown /> : '…'}</Fact>
        <Fact name="ClickHouse">{data ? <span>{data.clickhouse.version ?? <Unknown />}{data.clickhouse.uptime_seconds !== null && `, running for ${span(data.clickhouse.uptime_seconds * 1000)}`}</span> : '…'}</Fact>
        <Fact name="Its memory">{data ? data.clickhouse.memory_bytes === null ? <Unknown /> : bytes(data.clickhouse.memory_bytes) : '…'}</Fact>
        <Fact name="Its disks" hint="Free space of the local disks">{data ? data.disks ? <span class="row">{data.disks.map((disk) => <span key={disk.name} class={disk.free_bytes < disk.total_bytes / 20 ? 'bad' : undefined}>{bytes(disk.free_bytes)} of {bytes(disk.total_bytes)} free</span>)}</span> : <Unknown /> : '…'}</Fact>
      </Facts>
      {data?.tables && <details><summary>{count(data.tables.length)} tables</summary><Table items={data.tables} columns={TABLE_COLUMNS} id={(table) => table.name} label="Tables of ClickHouse" /></details>}
    </section>
  );
}

/** The missing blocks of one part of the tables, from the answer of a scan for one row. */
function useMissing(kind: string, head: number | null): { missing?: Range[]; problem?: Problem } {
  const [state, setState] = useState<{ missing?: Range[]; problem?: Problem }>({});
  useEffect(() => {
    if (head === null) return undefined;
    let isCancelled = false;
    const ranges = (missing: MissingRange[]) => missing.map((range) => ({ first: Number(range.fromBlock), last: Number(range.toBlock) }));
    const setMissing = (missing: MissingRange[]) => { if (!isCancelled) setState({ missing: ranges(missing) }); };
    getJson<ScanAnswer>(`/api/v2/scan/${kind}?fromBlock=0&toBlock=${head}&limit=1&format=json`).then(
      (answer) => setMissing(answer.end.missing),
      (failure: unknown) => {
        if (failure instanceof Problem && failure.missing.length > 0) setMissing(failure.missing);
        else if (!isCancelled) setState({ problem: failure instanceof Problem ? failure : new Problem(0, String(failure)) });
      },
    );
    return () => { isCancelled = true; };
  }, [kind, head]);
  return state;
}

type PartCoverage = ReturnType<typeof useMissing>;

/** All parts are shown at once, so that the layout does not shift. */
function Parts({ head }: { head: number | null }) {
  const parts = [useMissing(PARTS[0][0], head), useMissing(PARTS[1][0], head), useMissing(PARTS[2][0], head)];
  if (parts.some((part) => !part.missing && !part.problem)) return <Loading lines={30} />;
  return (
    <>
      {PARTS.map(([kind, name, why], index) => <Part key={kind} name={name} why={why} head={head} coverage={parts[index] as PartCoverage} />)}
      <p class="quiet">A block whose hashes do not match is refused when it is loaded; data that its source lacked could not be checked. You can also verify a receipt yourself: see Proof on the page of a transaction. The verdicts of all blocks are in the table <code>block_verdicts</code>.</p>
    </>
  );
}

function Part({ name, why, head, coverage: { missing, problem } }: { name: string; why: string; head: number | null; coverage: PartCoverage }) {
  const whole = { first: 0, last: head ?? 0 };
  const loaded = missing && without(whole, missing);
  return (
    <section class="panel">
      <header><h2>{name}</h2>{loaded && <strong>{percent(lengthOf(loaded) / (whole.last + 1))}</strong>}</header>
      <p class="quiet">{why}.</p>
      {problem ? <Failure problem={problem} compact /> : loaded && <Coverage loaded={loaded} whole={whole} />}
    </section>
  );
}

/** The most ranges that are listed. */
const MAX_RANGES = 60;

function Coverage({ loaded, whole }: { loaded: Range[]; whole: Range }) {
  const length = whole.last - whole.first + 1;
  return (
    <>
      <svg class="coverage" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label={`${loaded.length} ranges are loaded`}>
        {loaded.map((range) => <rect key={range.first} x={(range.first / length) * 1000} width={Math.max(((range.last - range.first + 1) / length) * 1000, 1.5)} y="0" height="20" />)}
      </svg>
      {loaded.length === 0 ? <p class="empty">Nothing is loaded.</p> : (
        <p class="ranges">{loaded.slice(-MAX_RANGES).map((range) => <span key={range.first}><Height of={range.first} />{range.last > range.first && <> to <Height of={range.last} /></>}</span>)}
          {loaded.length > MAX_RANGES && <span>and {loaded.length - MAX_RANGES} earlier ranges</span>}
        </p>
      )}
    </>
  );
}
