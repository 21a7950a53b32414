// What a wallet has approved to whom: one scan of the events that name it, and where state is loaded a call for each that says what is left.
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
import { type Mark, stream } from '../../scan/stream.ts';

/** Most approvals that are shown, and asked for what is left of them. */
const MOST = 200;

interface Line extends Approval { left: bigint | null }
interface Found { lines: Line[]; revoked: number; beyond: number; mark: Mark; why: string | null }

async function find(owner: string, signal: AbortSignal): Promise<Found> {
  const known = new Map<string, Approval>();
  const topic = `0x${owner.slice(2).toLowerCase().padStart(64, '0')}`;
  const mark = await stream<ApprovalLog>(`/api/v2/scan/logs?format=ndjson&fromBlock=0&topic0=${APPROVAL},${APPROVAL_FOR_ALL}&topic1=${topic}`, signal, (logs) => addApprovals(known, logs));
  const standing = [...known.values()].filter((approval) => !isRevoked(approval)).toReversed();
  const shown = standing.slice(0, MOST);
  const { results, why } = await left(shown, owner);
  const lines = shown.map((approval, index) => ({ ...approval, left: results[index] ?? null }));
  const isGone = (line: Line) => line.left === 0n;
  return { lines: lines.filter((line) => !isGone(line)), revoked: known.size - standing.length + lines.filter(isGone).length, beyond: standing.length - shown.length, mark, why };
}

/** What is left of approvals, or why that is not known. */
async function left(approvals: Approval[], owner: string): Promise<{ results: (bigint | null)[]; why: string | null }> {
  if (approvals.length === 0) return { results: [], why: null };
  const answers = await batch<string>(approvals.map((approval) => ['eth_call', [{ to: approval.token, data: questionOf(approval, owner) }, 'latest']])).catch((failure: Problem) => [failure]);
  const lack = answers.find((answer) => answer instanceof Problem && answer.status !== 3);
  const result = (answer: string | Problem | undefined, index: number) => (typeof answer === 'string' ? leftOf(approvals[index] as Approval, answer) : null);
  return { results: approvals.map((_, index) => result(answers[index], index)), why: lack instanceof Problem ? lack.message : null };
}

export function Approvals({ hash }: { hash: string }) {
  const [answer, setAnswer] = useState<{ found?: Found; problem?: Problem }>({});
  const [round, setRound] = useState(0);
  const held = useApi<Page<Holding>>(`/api/v2/addresses/${hash}/tokens`);
  useEffect(() => {
    const stop = new AbortController();
    setAnswer({});
    find(hash, stop.signal).then(
      (found) => { if (!stop.signal.aborted) setAnswer({ found }); },
      (failure: unknown) => { if (!stop.signal.aborted) setAnswer({ problem: failure instanceof Problem ? failure : new Problem(0, String(failure)) }); },
    );
    return () => stop.abort();
  }, [hash, round]);
  const { found, problem } = answer;
  if (problem) return <Failure problem={problem} refetch={() => setRound(round + 1)} />;
  if (!found || (!held.data && !held.problem)) return <Loading lines={30} />;
  const tokens = new Map((held.data?.items ?? []).map(({ token }) => [token.address_hash.toLowerCase(), token]));
  return (
    <>
      <p class="quiet" role="note">{about(found)}</p>
      <Table items={found.lines} columns={columns(tokens)} id={(line) => `${line.token}-${line.spender}-${line.kind}-${line.value}`} label="Approvals" empty="Nothing that it approved still stands." />
      <p class="quiet">From the events Approval and ApprovalForAll. A token that emits none when it approves is not seen.</p>
    </>
  );
}

function about({ lines, revoked, beyond, mark, why }: Found): string {
  const part = mark.complete ? '' : ' Not all blocks are loaded, so there may be others.';
  const rest = beyond > 0 ? ` ${count(beyond)} older ones are not shown.` : '';
  const calls = why ? ` What is left of them is not known here: ${why}.` : '';
  return `${count(lines.length)} standing, ${count(revoked)} revoked or used up.${rest}${part}${calls}`;
}

const columns = (tokens: Map<string, Token>): Column<Line>[] => [
  { name: 'Token', cell: ({ token }) => { const known = tokens.get(token); return known ? <TokenName token={known} /> : <Address of={{ hash: checksum(token) }} />; } },
  { name: 'Spender', cell: ({ spender }) => <Address of={{ hash: checksum(spender) }} copy /> },
  { name: 'Approved', right: true, cell: (line) => <Amount of={line} value={line.value} token={tokens.get(line.token)} /> },
  { name: 'Left', right: true, cell: (line) => (line.left === null ? <span class="quiet">unknown</span> : line.kind === 'amount' ? <Amount of={line} value={line.left} token={tokens.get(line.token)} /> : <span class="badge">stands</span>) },
  { name: 'Block', cell: ({ block }) => <Height of={block} /> },
  { name: 'Transaction', cell: ({ transaction }) => <TxHash hash={transaction} /> },
];

function Amount({ of: { kind, token: address }, value, token }: { of: Line; value: bigint; token: Token | undefined }) {
  if (kind === 'all') return <span class="badge bad">all ids</span>;
  if (kind === 'id') return <a class="id" href={`/token/${address}/instance/${value}`}>#{String(value).slice(0, 14)}</a>;
  return <Units value={value.toString()} decimals={token?.decimals} />;
}
