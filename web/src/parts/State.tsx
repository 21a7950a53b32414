// Loading and failure, in words.
import type { ComponentChildren } from 'preact';
import type { Answer } from '../api/use.ts';
import { Problem } from '../api/request.ts';
import { group } from '../format/amount.ts';

const height = (quantity: string) => group(BigInt(quantity).toString());

/** What went wrong: the API's own words, and blocks that it lacks. */
export function Failure({ problem, again, compact }: { problem: Problem; again?: () => void; compact?: boolean }) {
  const title = problem.status === 0 ? 'No connection' : problem.status === 404 || problem.status === -32002 ? 'Not here' : problem.status === 501 ? 'Not kept by this server' : 'No answer';
  const missing = problem.missing;
  // What is not loaded is no fault.
  const isLack = problem.status === 404 || problem.status === 501 || problem.status === -32002;
  return (
    <div class={`failure${compact ? ' compact' : ''}${isLack ? ' lack' : ''}`} role="alert">
      <strong>{title}</strong>
      <p>{problem.message}{/[.!?]$/.test(problem.message) ? '' : '.'}{problem.status === 0 && ' It is asked again every few seconds.'}</p>
      {missing.length > 0 && (
        <p class="quiet">Blocks that are not loaded: {missing.slice(0, 5).map((range) => `${height(range.fromBlock)} to ${height(range.toBlock)}`).join(', ')}
          {missing.length > 5 && ` and ${missing.length - 5} more ranges`}.</p>
      )}
      {problem.status !== 0 && !isLack && <p class="quiet">Status {problem.status}</p>}
      {again && <button type="button" class="button small" onClick={again}>Ask again</button>}
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
  const { data, problem, again } = answer;
  if (data === undefined) return problem ? <Failure problem={problem} again={again} compact={compact} /> : <Loading lines={lines} />;
  return <>{problem && <Failure problem={problem} compact />}{children(data)}</>;
}
