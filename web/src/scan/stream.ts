// Streams the rows of a scan: one JSON object per line, and a closing line that says whether the rows are complete.
import { Problem, problemOf } from '../api/request.ts';
import { serverPath } from '../start/base.ts';

/** The closing line of a scan. */
export interface ScanEnd { complete: boolean; count: number; fromBlock: string; toBlock: string; headBlock: string; missing: { fromBlock: string; toBlock: string }[] }

/**
 * Reads the answer at a path to its end and passes on the rows in batches. The result is the closing line; an answer
 * without one was cut off, which is a problem.
 */
export async function stream<T>(path: string, signal: AbortSignal, onBatch: (batch: T[], bytes: number) => void): Promise<ScanEnd> {
  let response: Response;
  try {
    response = await fetch(serverPath(path), { signal });
  } catch (failure) {
    if (signal.aborted) throw failure;
    throw new Problem(0, 'The API cannot be reached.');
  }
  if (!response.ok) throw problemOf(response.status, await response.text());
  if (!response.body) throw new Problem(0, 'The answer has no body.');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let end: ScanEnd | undefined;
  for (;;) {
    let chunk: ReadableStreamReadResult<Uint8Array>;
    try {
      chunk = await reader.read();
    } catch (failure) {
      if (signal.aborted) throw failure;
      throw new Problem(0, 'The transfer was interrupted, so these rows are incomplete.');
    }
    rest += chunk.done ? decoder.decode() : decoder.decode(chunk.value, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    const batch: T[] = [];
    for (const line of lines) {
      if (line.startsWith('{"end":')) end = (JSON.parse(line) as { end: ScanEnd }).end;
      else if (line) batch.push(JSON.parse(line) as T);
    }
    if (batch.length > 0) onBatch(batch, chunk.value?.length ?? 0);
    if (chunk.done) break;
  }
  if (!end) throw new Problem(0, 'The transfer ended without its closing line, so these rows are incomplete.');
  return end;
}
