// Loading and failure, in words.
import type { ComponentChildren } from 'preact';
import type { Answer } from '../api/use_api.ts';
import { Problem } from '../api/request.ts';
import { group } from '../format/amount.ts';

const height = (quantity: string) => group(BigInt(quantity).toString());

/** What went wrong: the API's own words, and blocks that it lacks. */
export function Failure({ problem, refetch, compact }: { problem: Problem; refetch?: () => void; compact?: boolean }) {
  const missing = problem.missing;
  const lacks = missing.length > 0 ? 'Not loaded here' : 'Not stored on this server';
  const isNowhere = problem.status === 404 || problem.status === -32002;
  const title = problem.status === 0 ? 'No connection' : isNowhere && missing.length === 0 ? 'Not indexed here' : isNowhere || problem.status === 501 ? lacks : 'No answer';
  // The API's bare word for what is not in the tables, and its sentences, which begin without a capital in places.
  const isBare = problem.message === 'Not found';
  const said = isBare ? 'It does not exist, or is in blocks that are not indexed' : problem.message.charAt(0).toUpperCase() + problem.message.slice(1);
  // What is not loaded is no fault.
  const isLack = isNowhere || problem.status === 501;
  // A sentence that names the blocks needs no list of them.
  const isNamed = /blocks? \d/i.test(said);
  return (
    <div class={`failure${compact ? ' compact' : ''}${isLack ? ' lack' : ''}`} role="alert">
      <strong>{title}</strong>
      <p>{said}{/[.!?]$/.test(problem.message) ? '' : '.'}{problem.status === 0 && ' Retrying every few seconds.'}{isBare && <> <a href="/status">What is indexed</a>.</>}</p>
      {missing.length > 0 && !isNamed && (
        <p class="quiet">Blocks that are not loaded: {missing.slice(0, 5).map((range) => `${height(range.fromBlock)} to ${height(range.toBlock)}`).join(', ')}
          {missing.length > 5 && ` and ${missing.length - 5} more ranges`}.</p>
      )}
      {problem.status !== 0 && !isLack && <p class="quiet">Status {problem.status}</p>}
      {refetch && !isLack && <button type="button" class="button small" onClick={refetch}>Retry</button>}
    </div>
  );
}

export function Loading({ lines = 6 }: { lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => <div key={index} class="bar" />)}
    </div>
  );
}

/** What an answer says, or that it is awaited, or why there is none. */
export function Shown<T>({ answer, lines, compact, children }: {
  answer: Answer<T>; lines?: number; compact?: boolean; children: (data: T) => ComponentChildren;
}) {
  const { data, problem, refetch } = answer;
  if (data === undefined) return problem ? <Failure problem={problem} refetch={refetch} compact={compact} /> : <Loading lines={lines} />;
  return <>{problem && <Failure problem={problem} compact />}{children(data)}</>;
}
