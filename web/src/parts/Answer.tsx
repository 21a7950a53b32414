// An answer of the API, its loading and its failure.
import type { ComponentChildren } from 'preact';
import type { Answer } from '../api/use_api.ts';
import { Problem } from '../api/request.ts';
import { group, withGroups } from '../format/amount.ts';

const height = (quantity: string) => group(BigInt(quantity).toString());

/** What went wrong: the message of the API and the blocks that are missing. */
export function Failure({ problem, refetch, compact }: { problem: Problem; refetch?: () => void; compact?: boolean }) {
  const missing = problem.missing;
  const lacks = missing.length > 0 ? 'Not loaded here' : 'Not stored on this server';
  const isNotFound = problem.status === 404 || problem.status === -32002;
  const title = problem.status === 0 ? 'No connection' : problem.status === 503 ? 'Not available now' : isNotFound && missing.length === 0 ? 'Not indexed here' : isNotFound || problem.status === 501 ? lacks : 'No answer';
  // The API answers "Not found" for what is not in the tables; some of its sentences begin in lower case.
  const isGeneric = problem.message === 'Not found';
  // Missing data is not an error.
  const isLack = isNotFound || problem.status === 501;
  const sentence = problem.message.charAt(0).toUpperCase() + problem.message.slice(1);
  // An error may quote what was sent, whose digits stay as they are.
  const message = isGeneric ? 'It does not exist, or is in blocks that are not indexed' : isLack ? withGroups(sentence) : sentence;
  // A message that names the blocks needs no list of them.
  const isNamed = /blocks? \d/i.test(message);
  return (
    <div class={`failure${compact ? ' compact' : ''}${isLack ? ' lack' : ''}`} role="alert">
      <strong>{title}</strong>
      <p>{message}{/[.!?]$/.test(problem.message) ? '' : '.'}{problem.status === 0 && ' Retrying every few seconds.'}{isGeneric && <> <a href="/status">What is indexed</a>.</>}</p>
      {missing.length > 0 && !isNamed && (
        <p class="quiet">Blocks that are not loaded: {missing.slice(0, 5).map((range) => `${height(range.fromBlock)} to ${height(range.toBlock)}`).join(', ')}
          {missing.length > 5 && ` and ${missing.length - 5} more ranges`}.</p>
      )}
      {problem.status !== 0 && problem.status !== 503 && !isLack && <p class="quiet">Status {problem.status}</p>}
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

/** Shows the data of an answer, a placeholder while it loads, or the problem. */
export function AnswerView<T>({ answer, lines, compact, children }: {
  answer: Answer<T>; lines?: number; compact?: boolean; children: (data: T) => ComponentChildren;
}) {
  const { data, problem, refetch } = answer;
  if (data === undefined) return problem ? <Failure problem={problem} refetch={refetch} compact={compact} /> : <Loading lines={lines} />;
  return <>{problem && <Failure problem={problem} compact />}{children(data)}</>;
}
