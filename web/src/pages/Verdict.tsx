// The verdict on a block: which of its hashes were verified.
import { useApi } from '../api/use_api.ts';
import { Time } from '../parts/Time.tsx';
import { Unknown } from '../parts/Unknown.tsx';

type VerdictName = 'verified' | 'partial' | 'unverified' | 'refused';
interface BlockVerdict { verdict: VerdictName; checked: string[]; not_checkable: { check: string; reason: string }[]; source: string; decided_at: string }

const DESCRIPTIONS: Record<VerdictName, [string, string]> = {
  verified: ['good', 'every check that applies passed'],
  partial: ['', 'what could be checked passed'],
  unverified: ['', 'checks were turned off when it was loaded'],
  refused: ['bad', 'a check failed when it was verified again'],
};

export function Verdict({ block }: { block: string }) {
  const { data, problem } = useApi<BlockVerdict>(`/api/v2/blocks/${block}/verdict`);
  if (!data) return problem ? <Unknown /> : <>…</>;
  const [tone, description] = DESCRIPTIONS[data.verdict];
  return (
    <details>
      <summary><span class={`badge ${tone}`}>{data.verdict}</span> {description}</summary>
      <p class="quiet">Checked <Time at={data.decided_at} both />, rows from {data.source}. Passed: {data.checked.join(', ') || 'nothing'}.</p>
      {data.not_checkable.map((one) => <p key={one.check} class="quiet">Not checked: {one.check}, {one.reason}.</p>)}
    </details>
  );
}
