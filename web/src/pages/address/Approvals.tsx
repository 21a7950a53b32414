// The approvals of a wallet: a scan of its events, and a call for the current state of each where state is loaded.
import { useEffect, useState } from 'preact/hooks';
import { batch, Problem } from '../../api/request.ts';
import type { Holding, Page, Token } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { APPROVAL, APPROVAL_FOR_ALL, addApprovals, type Approval, type ApprovalLog, isRevoked, leftOf, questionOf } from '../../format/tokens/approvals.ts';
import { count } from '../../format/amount.ts';
import { checksum } from '../../format/keccak.ts';
import { Address } from '../../parts/Address.tsx';
import { TokenName, Units } from '../../parts/Amount.tsx';
import { Height, TxHash } from '../../parts/Hash.tsx';
import { Failure, Loading } from '../../parts/Answer.tsx';
import { type Column, Table } from '../../parts/list/Table.tsx';
import { type ScanEnd, stream } from '../../scan/stream.ts';

/** The most approvals that are shown, and checked by a call. */
const MAX_APPROVALS = 200;

interface Line extends Approval { remaining: bigint | null }
interface ApprovalList { lines: Line[]; revoked: number; omitted: number; end: ScanEnd; why: string | null }

async function fetchApprovals(owner: string, signal: AbortSignal): Promise<ApprovalList> {
  const approvals = new Map<string, Approval>();
  const topic = `0x${owner.slice(2).toLowerCase().padStart(64, '0')}`;
  const end = await stream<ApprovalLog>(`/api/v2/scan/logs?format=ndjson&fromBlock=0&topic0=${APPROVAL},${APPROVAL_FOR_ALL}&topic1=${topic}`, signal, (logs) => addApprovals(approvals, logs));
  const standing = [...approvals.values()].filter((approval) => !isRevoked(approval)).toReversed();
  const shown = standing.slice(0, MAX_APPROVALS);
  const { results, why } = await checkRemaining(shown, owner);
  const lines = shown.map((approval, index) => ({ ...approval, remaining: results[index] ?? null }));
  const isUsedUp = (line: Line) => line.remaining === 0n;
  return { lines: lines.filter((line) => !isUsedUp(line)), revoked: approvals.size - standing.length + lines.filter(isUsedUp).length, omitted: standing.length - shown.length, end, why };
}

/** What remains of approvals, or why that is not known. */
async function checkRemaining(approvals: Approval[], owner: string): Promise<{ results: (bigint | null)[]; why: string | null }> {
  if (approvals.length === 0) return { results: [], why: null };
  const answers = await batch<string>(approvals.map((approval) => ['eth_call', [{ to: approval.token, data: questionOf(approval, owner) }, 'latest']])).catch((failure: Problem) => [failure]);
  const lack = answers.find((answer) => answer instanceof Problem && answer.status !== 3);
  const result = (answer: string | Problem | undefined, index: number) => (typeof answer === 'string' ? leftOf(approvals[index] as Approval, answer) : null);
  return { results: approvals.map((_, index) => result(answers[index], index)), why: lack instanceof Problem ? lack.message : null };
}

export function Approvals({ hash }: { hash: string }) {
  const [answer, setAnswer] = useState<{ list?: ApprovalList; problem?: Problem }>({});
  const [round, setRound] = useState(0);
  const holdings = useApi<Page<Holding>>(`/api/v2/addresses/${hash}/tokens`);
  useEffect(() => {
    const stop = new AbortController();
    setAnswer({});
    fetchApprovals(hash, stop.signal).then(
      (list) => { if (!stop.signal.aborted) setAnswer({ list }); },
      (failure: unknown) => { if (!stop.signal.aborted) setAnswer({ problem: failure instanceof Problem ? failure : new Problem(0, String(failure)) }); },
    );
    return () => stop.abort();
  }, [hash, round]);
  const { list, problem } = answer;
  if (problem) return <Failure problem={problem} refetch={() => setRound(round + 1)} />;
  if (!list || (!holdings.data && !holdings.problem)) return <Loading lines={30} />;
  const tokens = new Map((holdings.data?.items ?? []).map(({ token }) => [token.address_hash.toLowerCase(), token]));
  return (
    <>
      <p class="quiet" role="note">{about(list)}</p>
      <Table items={list.lines} columns={columns(tokens)} id={(line) => `${line.token}-${line.spender}-${line.kind}-${line.value}`} label="Approvals" empty="No active approvals." />
      <p class="quiet">From the events Approval and ApprovalForAll. Approvals of tokens that do not emit them are not shown.</p>
    </>
  );
}

function about({ lines, revoked, omitted, end, why }: ApprovalList): string {
  const part = end.complete ? '' : ' Not all blocks are loaded, so there may be others.';
  const rest = omitted > 0 ? ` ${count(omitted)} older ones are not shown.` : '';
  const calls = why ? ` Their remaining amounts are not known here: ${why}.` : '';
  return `${count(lines.length)} active, ${count(revoked)} revoked or used up.${rest}${part}${calls}`;
}

const columns = (tokens: Map<string, Token>): Column<Line>[] => [
  { name: 'Token', cell: ({ token }) => { const details = tokens.get(token); return details ? <TokenName token={details} /> : <Address of={{ hash: checksum(token) }} />; } },
  { name: 'Spender', cell: ({ spender }) => <Address of={{ hash: checksum(spender) }} copy /> },
  { name: 'Approved', right: true, cell: (line) => <Amount of={line} value={line.value} token={tokens.get(line.token)} /> },
  { name: 'Remaining', right: true, cell: (line) => (line.remaining === null ? <span class="quiet">unknown</span> : line.kind === 'amount' ? <Amount of={line} value={line.remaining} token={tokens.get(line.token)} /> : <span class="badge">active</span>) },
  { name: 'Block', cell: ({ block }) => <Height of={block} /> },
  { name: 'Transaction', cell: ({ transaction }) => <TxHash hash={transaction} /> },
];

function Amount({ of: { kind, token: address }, value, token }: { of: Line; value: bigint; token: Token | undefined }) {
  if (kind === 'all') return <span class="badge bad">all ids</span>;
  if (kind === 'id') return <a class="id" href={`/token/${address}/instance/${value}`}>#{String(value).slice(0, 14)}</a>;
  return <Units value={value.toString()} decimals={token?.decimals} />;
}
