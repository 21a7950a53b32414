// What a statement of the account may take, and what one would read.
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { bytes, count } from '../format/amount.ts';
import { Failure } from '../parts/State.tsx';
import { all } from './ask.ts';

const LIMITS = `SELECT name, value FROM system.settings
WHERE name IN ('max_execution_time', 'max_memory_usage', 'max_rows_to_read', 'max_bytes_to_read', 'max_result_rows', 'max_threads')`;

const WORDS: [string, (value: number) => string][] = [
  ['max_execution_time', (value) => `run ${value} s`],
  ['max_memory_usage', (value) => `use ${bytes(value)} of memory`],
  ['max_rows_to_read', (value) => `read ${count(value)} rows`],
  ['max_bytes_to_read', (value) => `read ${bytes(value)}`],
  ['max_result_rows', (value) => `answer with ${count(value)} rows`],
];

export function Limits({ authorization }: { authorization: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    all(LIMITS, authorization, stop.signal).then(({ rows }) => {
      const values = new Map(rows.map(([name = '', value = '']) => [name, Number(value)]));
      setSaid(WORDS.flatMap(([name, word]) => (values.get(name) ? [word(values.get(name) ?? 0)] : [])).join(', '));
    }, () => {});
    return () => stop.abort();
  }, [authorization]);
  return <p class="quiet">{said ? `A statement of this account may ${said}.` : '…'}</p>;
}

interface Read { parts: number; rows: number; marks: number; tables: string[] }

/** What ClickHouse expects to read, from the indexes alone. */
export function Estimate({ statement, authorization, at }: { statement: string; authorization: string; at: number }) {
  const [read, setRead] = useState<Read | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    setRead(null);
    setProblem(null);
    const stop = new AbortController();
    all(`EXPLAIN ESTIMATE ${statement}`, authorization, stop.signal).then(({ rows }) => {
      const sum = (index: number) => rows.reduce((all, row) => all + Number(row[index]), 0);
      setRead({ parts: sum(2), rows: sum(3), marks: sum(4), tables: rows.map((row) => row[1] ?? '') });
    }, (failure: unknown) => {
      if (!stop.signal.aborted) setProblem(failure instanceof Problem ? failure : new Problem(0, String(failure)));
    });
    return () => stop.abort();
  }, [at]);
  if (problem) return <Failure problem={problem} compact />;
  if (!read) return <p class="quiet">…</p>;
  return <p>{read.tables.length === 0 ? 'Reads no table of the MergeTree family.' : <>Reads at most <strong>{count(read.rows)}</strong> rows of {read.tables.join(', ')} (granules: {count(read.marks)}, parts: {count(read.parts)}).</>}</p>;
}
