// Streams the rows of a scan: one JSON object per line, and a closing line that says whether the rows are complete.
import { textChunks } from '../api/chunks.ts';
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
  let rest = '';
  let end: ScanEnd | undefined;
  for await (const { text, bytes } of textChunks(response, signal)) {
    rest += text;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    const batch: T[] = [];
    for (const line of lines) {
      if (line.startsWith('{"end":')) end = (JSON.parse(line) as { end: ScanEnd }).end;
      else if (line) batch.push(JSON.parse(line) as T);
    }
    if (batch.length > 0) onBatch(batch, bytes);
  }
  if (!end) throw new Problem(0, 'The transfer ended without its closing line, so these rows are incomplete.');
  return end;
}
