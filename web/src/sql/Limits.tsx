// The limits of an account's statements, and an estimate of what a statement reads.
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { bytes, count } from '../format/amount.ts';
import { Failure } from '../parts/Answer.tsx';
import { fetchRows } from './client.ts';

const LIMITS = `SELECT name, value FROM system.settings
WHERE name IN ('max_execution_time', 'max_memory_usage', 'max_rows_to_read', 'max_bytes_to_read', 'max_result_rows', 'max_threads')`;

const PHRASES: [string, (value: number) => string][] = [
  ['max_execution_time', (value) => `run ${value} s`],
  ['max_memory_usage', (value) => `use ${bytes(value)} of memory`],
  ['max_rows_to_read', (value) => `read ${count(value)} rows`],
  ['max_bytes_to_read', (value) => `read ${bytes(value)}`],
  ['max_result_rows', (value) => `answer with ${count(value)} rows`],
];

export function Limits({ authorization }: { authorization: string }) {
  const [limits, setLimits] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    fetchRows(LIMITS, authorization, stop.signal).then(({ rows }) => {
      const values = new Map(rows.map(([name = '', value = '']) => [name, Number(value)]));
      setLimits(PHRASES.flatMap(([name, phrase]) => (values.get(name) ? [phrase(values.get(name) ?? 0)] : [])).join(', '));
    }, () => {});
    return () => stop.abort();
  }, [authorization]);
  return <p class="quiet">{limits ? `A statement of this account may ${limits}.` : '…'}</p>;
}

interface ReadEstimate { parts: number; rows: number; marks: number; tables: string[] }

/** What ClickHouse expects to read, estimated from its indexes. */
export function Estimate({ statement, authorization, at }: { statement: string; authorization: string; at: number }) {
  const [estimate, setEstimate] = useState<ReadEstimate | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    setEstimate(null);
    setProblem(null);
    const stop = new AbortController();
    fetchRows(`EXPLAIN ESTIMATE ${statement}`, authorization, stop.signal).then(({ rows }) => {
      const sum = (index: number) => rows.reduce((all, row) => all + Number(row[index]), 0);
      setEstimate({ parts: sum(2), rows: sum(3), marks: sum(4), tables: rows.map((row) => row[1] ?? '') });
    }, (failure: unknown) => {
      if (!stop.signal.aborted) setProblem(failure instanceof Problem ? failure : new Problem(0, String(failure)));
    });
    return () => stop.abort();
  }, [at]);
  if (problem) return <Failure problem={problem} compact />;
  if (!estimate) return <p class="quiet">…</p>;
  return <p>{estimate.tables.length === 0 ? 'Reads no table of the MergeTree family.' : <>Reads at most <strong>{count(estimate.rows)}</strong> rows of {estimate.tables.join(', ')} (granules: {count(estimate.marks)}, parts: {count(estimate.parts)}).</>}</p>;
}
