// An estimate of what a scan reads, from the plan of the server.
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../api/use_api.ts';
import { bytes, count } from '../format/amount.ts';
import { Copy } from '../parts/Copy.tsx';
import { Fact, Facts } from '../parts/Facts.tsx';
import { Failure, Loading } from '../parts/Answer.tsx';
import { type Filter, scanPath } from './filter.ts';

interface TableRead { table: string; parts: number; granules: number; rows: number; bytes: number }
interface Plan { plan: string; reads: TableRead[]; sql: string; explain: string[] }

/** The pause after the last key before the estimate is requested, in milliseconds. */
const PAUSE = 350;

export function Estimate({ filter }: { filter: Filter }) {
  const path = scanPath(filter, { explain: '1' });
  const [debouncedPath, setDebouncedPath] = useState(path);
  useEffect(() => {
    const timer = setTimeout(() => setDebouncedPath(path), PAUSE);
    return () => clearTimeout(timer);
  }, [path]);
  const { data, problem } = useApi<Plan>(debouncedPath);
  const sum = (of: (read: TableRead) => number) => (data?.reads ?? []).reduce((all, read) => all + of(read), 0);
  return (
    <section class="panel estimate" aria-live="polite">
      <header><h2>What will be read</h2></header>
      {problem ? <Failure problem={problem} compact /> : !data ? <Loading lines={4} /> : (
        <>
          <Facts>
            <Fact name="At most"><strong>{bytes(sum((read) => read.bytes))}</strong> <span class="quiet">before compression</span></Fact>
            <Fact name="Rows scanned">{count(sum((read) => read.rows))}</Fact>
            <Fact name="Tables">{[...new Set(data.reads.map((read) => read.table))].join(', ') || 'none'}</Fact>
          </Facts>
          <details><summary>The statement and its plan</summary>
            <pre class="json" tabIndex={0}>{data.plan}{'\n\n'}{data.sql}{'\n\n'}{data.explain.join('\n')}</pre><Copy text={data.sql} what="statement" label="Copy" />
          </details>
        </>
      )}
    </section>
  );
}
