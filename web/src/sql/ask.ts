// Statements to the server: rows as they arrive, and how it ended. An answer without its closing line is not whole.
import { Problem, problemOf } from '../api/request.ts';
import { onServer } from '../start/base.ts';

export interface Column { name: string; type: string }
export interface Cost { rows: number; bytes: number; total: number; seconds: number }
export interface Answer { columns: Column[]; rows: string[][]; cost: Cost | null }

/** What a piece of an answer brought; columns come once, before all rows. */
export interface News { columns?: Column[]; rows: string[][]; cost?: Cost; totals?: string[] }

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
    response = await fetch(onServer(`/sql/query?format=${format}`), { method: 'POST', headers: { authorization }, body: statement, credentials: 'omit', signal });
  } catch (failure) {
    if (signal.aborted) throw failure;
    throw new Problem(0, 'The server cannot be reached.');
  }
  if (!response.ok) throw problemOf(response.status, await response.text());
  return response;
}

const costOf = (progress: NonNullable<Line['progress']>): Cost => ({ rows: Number(progress.read_rows), bytes: Number(progress.read_bytes), total: Number(progress.total_rows_to_read ?? 0), seconds: Number(progress.elapsed_ns) / 1e9 });

/** What lines say; the last of a piece may be half of one, and of an answer that failed one in the middle. */
export class Lines {
  #rest = '';
  #broken = false;
  /** Seconds that it took, once it has ended well. */
  end: number | null = null;

  take(text: string): News {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const news: News = { rows: [] };
    for (const text of lines) if (text) this.#read(text, news);
    return news;
  }

  /** Fails if the answer is not whole. */
  close(): number {
    if (this.end === null || this.#broken || this.#rest) throw new Problem(0, 'The transfer broke off, so these rows are not all.');
    return this.end;
  }

  #read(text: string, news: News): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      this.#broken = true;
      return;
    }
    if (line.row) news.rows.push(line.row);
    else if (line.progress) news.cost = costOf(line.progress);
    else if (line.meta) news.columns = line.meta;
    else if (line.totals) news.totals = line.totals;
    else if (line.end) this.end = line.end.seconds;
    else if (line.exception !== undefined) throw new Problem(400, line.exception);
    else if (line.error) throw new Problem(400, line.error.message);
  }
}

/** Runs a statement and hands on what comes; the result is how many seconds it took. */
export async function run(statement: string, authorization: string, signal: AbortSignal, news: (news: News) => void): Promise<number> {
  const response = await send(statement, 'json', authorization, signal);
  if (!response.body) throw new Problem(0, 'The answer has no body.');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const lines = new Lines();
  for (;;) {
    let chunk: ReadableStreamReadResult<Uint8Array>;
    try {
      chunk = await reader.read();
    } catch (failure) {
      if (signal.aborted) throw failure;
      throw new Problem(0, 'The transfer broke off, so these rows are not all.');
    }
    news(lines.take(chunk.done ? decoder.decode() : decoder.decode(chunk.value, { stream: true })));
    if (chunk.done) return lines.close();
  }
}

/** The whole answer of a statement that has few rows. */
export async function all(statement: string, authorization: string, signal = new AbortController().signal): Promise<Answer> {
  const answer: Answer = { columns: [], rows: [], cost: null };
  await run(statement, authorization, signal, (news) => {
    if (news.columns) answer.columns = news.columns;
    if (news.cost) answer.cost = news.cost;
    answer.rows.push(...news.rows);
  });
  return answer;
}

/** All rows as a file, which is none if the transfer breaks off. */
export async function file(statement: string, format: 'csv' | 'parquet', authorization: string, signal: AbortSignal): Promise<Blob> {
  const response = await send(statement, format, authorization, signal);
  try {
    return await response.blob();
  } catch (failure) {
    if (signal.aborted) throw failure;
    throw new Problem(0, 'The transfer broke off: there is no file.');
  }
}
