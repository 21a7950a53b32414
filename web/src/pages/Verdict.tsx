// What was proven of a block.
import { useApi } from '../api/use_api.ts';
import { Time } from '../parts/Time.tsx';
import { Unknown } from '../parts/Unknown.tsx';

type Name = 'verified' | 'partial' | 'unverified' | 'refused';
interface BlockVerdict { verdict: Name; checked: string[]; not_checkable: { check: string; reason: string }[]; source: string; decided_at: string }

const WORDS: Record<Name, [string, string]> = {
  verified: ['good', 'every check that applies passed'],
  partial: ['', 'what could be checked passed'],
  unverified: ['', 'checks were turned off when it was loaded'],
  refused: ['bad', 'a check failed when it was proven again'],
};

export function Verdict({ block }: { block: string }) {
  const { data, problem } = useApi<BlockVerdict>(`/api/v2/blocks/${block}/verdict`);
  if (!data) return problem ? <Unknown /> : <>…</>;
  const [kind, words] = WORDS[data.verdict];
  return (
    <details>
      <summary><span class={`badge ${kind}`}>{data.verdict}</span> {words}</summary>
      <p class="quiet">Decided <Time at={data.decided_at} both />, rows from {data.source}. Held: {data.checked.join(', ') || 'nothing'}.</p>
      {data.not_checkable.map((one) => <p key={one.check} class="quiet">Not checked: {one.check}, {one.reason}.</p>)}
    </details>
  );
}
