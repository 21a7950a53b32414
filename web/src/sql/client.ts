// Sends SQL statements to the server and reads the rows as they arrive. A response without its closing line is incomplete.
import { textChunks } from '../api/chunks.ts';
import { Problem, problemOf } from '../api/request.ts';
import { serverPath } from '../start/base.ts';

export interface Column { name: string; type: string }
export interface Cost { rows: number; bytes: number; total: number; seconds: number }
export interface Result { columns: Column[]; rows: string[][]; cost: Cost | null }

/** What a chunk of a response contains; columns come once, before all rows. */
interface Batch { columns?: Column[]; rows: string[][]; cost?: Cost; totals?: string[] }

interface Line {
  meta?: Column[];
  row?: string[];
  totals?: string[];
  progress?: { read_rows: string; read_bytes: string; total_rows_to_read?: string; elapsed_ns: string };
  end?: { seconds: number };
  error?: { message: string };
  exception?: string;
}

async function send(statement: string, format: string, authorization: string, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(serverPath(`/sql/query?format=${format}`), { method: 'POST', headers: { authorization }, body: statement, credentials: 'omit', signal });
  } catch (failure) {
    if (signal.aborted) throw failure;
    throw new Problem(0, 'The server cannot be reached.');
  }
  if (!response.ok) throw problemOf(response.status, await response.text());
  return response;
}

const costOf = (progress: NonNullable<Line['progress']>): Cost => ({ rows: Number(progress.read_rows), bytes: Number(progress.read_bytes), total: Number(progress.total_rows_to_read ?? 0), seconds: Number(progress.elapsed_ns) / 1e9 });

/** Parses a response line by line; a chunk may end within a line, and so may a response that failed. */
export class Lines {
  #rest = '';
  #broken = false;
  /** How many seconds the statement took, once it has succeeded. */
  end: number | null = null;

  take(text: string): Batch {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const batch: Batch = { rows: [] };
    for (const text of lines) if (text) this.#read(text, batch);
    return batch;
  }

  /** Fails if the response is incomplete. */
  close(): number {
    if (this.end === null || this.#broken || this.#rest) throw new Problem(0, 'The transfer was interrupted, so these rows are incomplete.');
    return this.end;
  }

  #read(text: string, batch: Batch): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      this.#broken = true;
      return;
    }
    if (line.row) batch.rows.push(line.row);
    else if (line.progress) batch.cost = costOf(line.progress);
    else if (line.meta) batch.columns = line.meta;
    else if (line.totals) batch.totals = line.totals;
    else if (line.end) this.end = line.end.seconds;
    else if (line.exception !== undefined) throw new Problem(400, line.exception);
    else if (line.error) throw new Problem(400, line.error.message);
  }
}

/** Runs a statement and passes on each batch; returns how many seconds it took. */
export async function runStatement(statement: string, authorization: string, signal: AbortSignal, onBatch: (batch: Batch) => void): Promise<number> {
  const response = await send(statement, 'json', authorization, signal);
  const lines = new Lines();
  for await (const { text } of textChunks(response, signal)) onBatch(lines.take(text));
  return lines.close();
}

/** The whole result of a statement that has few rows. */
export async function fetchRows(statement: string, authorization: string, signal = new AbortController().signal): Promise<Result> {
  const result: Result = { columns: [], rows: [], cost: null };
  await runStatement(statement, authorization, signal, (batch) => {
    if (batch.columns) result.columns = batch.columns;
    if (batch.cost) result.cost = batch.cost;
    result.rows.push(...batch.rows);
  });
  return result;
}

/** All rows as a file; fails if the transfer breaks off. */
export async function fetchFile(statement: string, format: 'csv' | 'parquet', authorization: string, signal: AbortSignal): Promise<Blob> {
  const response = await send(statement, format, authorization, signal);
  try {
    return await response.blob();
  } catch (failure) {
    if (signal.aborted) throw failure;
    throw new Problem(0, 'The transfer was interrupted, so there is no file.');
  }
}
