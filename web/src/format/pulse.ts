// Whether a chain is alive, from the health report of the server and the usual interval of its blocks.
import { span } from './time.ts';

export interface FollowStatus { node_block: number; lag_blocks: number | null; silent_ms: number | null; head_age_ms: number | null; report_age_ms: number | null }
interface HealthProblem { kind: string; detail: string; seconds: number | null }
export interface Health { healthy: boolean; state: string; damage: string | null; problems: HealthProblem[]; data: { latest_block_number: number | null; ranges: number | null; following: FollowStatus | null } }

/** The state as a tone, a word and a sentence: live, late, stopped, or not followed (`still`). */
export interface Pulse { tone: 'good' | 'late' | 'bad' | 'still'; word: string; detail: string }

interface PulseInput {
  /** `null` if the server does not answer. */
  health: Health | null;
  /** Milliseconds since that answer. */
  since: number;
  /** The usual time between two blocks in milliseconds; `null` if it is not known. */
  interval: number | null;
  /** The time of the newest block. */
  newest: string | null;
}

/** How late a block may be before the chain counts as late or stopped: in block intervals, and at least in milliseconds. */
const LATE = [10, 30_000] as const;
const STOPPED = [40, 120_000] as const;
/** How many blocks behind its node a chain may be, as during a load. */
const MAX_LAG = 20;

const limit = ([intervals, least]: readonly [number, number], interval: number | null) => Math.max(intervals * (interval ?? 0), least);

/** The interval between the newest blocks of a list, newest first. */
export function intervalOf(blocks: { height: number; timestamp: string }[]): number | null {
  const [newest, oldest] = [blocks[0], blocks.at(-1)];
  const heights = newest && oldest ? newest.height - oldest.height : 0;
  return newest && oldest && heights > 0 ? (Date.parse(newest.timestamp) - Date.parse(oldest.timestamp)) / heights : null;
}

export function pulseOf({ health, since, interval, newest }: PulseInput): Pulse {
  if (!health) return { tone: 'late', word: 'no connection', detail: 'The server does not answer' };
  const why = health.problems.filter((problem) => problem.kind !== 'stale').map((problem) => problem.detail).join('; ');
  if (health.state === 'damaged') return { tone: 'bad', word: 'damaged', detail: `Rows were lost: ${health.damage ?? 'unknown which'}` };
  if (health.state === 'not ready') return { tone: 'bad', word: 'not ready', detail: why || 'No block is readable' };
  const { following } = health.data;
  const newestText = newest ? ` The newest block is from ${newest.slice(0, 16).replace('T', ' ')} UTC.` : '';
  if (!following) return { tone: 'still', word: 'not followed', detail: `The chain was loaded and is not followed.${newestText}` };
  const { head_age_ms: age, lag_blocks: lag } = following;
  const rest = why ? `; ${why}` : '';
  const usual = interval ? ` (usually every ${span(Math.max(interval, 1000))})` : '';
  if (age === null) return { tone: 'bad', word: 'stopped', detail: `No block for more than a day${usual}${rest}` };
  const quiet = age + since;
  const detail = `No block for ${span(quiet)}${usual}${rest}`;
  if (quiet > limit(STOPPED, interval) || health.state === 'stale') return { tone: 'bad', word: 'stopped', detail };
  if (quiet > limit(LATE, interval)) return { tone: 'late', word: 'late', detail };
  if (lag !== null && lag > MAX_LAG) return { tone: 'late', word: 'behind', detail: `${lag.toLocaleString('en')} blocks behind its node${rest}` };
  if (why) return { tone: 'late', word: 'live, with problems', detail: why };
  return { tone: 'good', word: 'live', detail: `New blocks come in${usual}` };
}
