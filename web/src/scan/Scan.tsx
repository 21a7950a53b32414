// The scan page: a filter, an estimate, the rows as they stream in, and snippets for other tools.
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useTitle } from '../parts/title.ts';
import { Estimate } from './Estimate.tsx';
import { type Filter, filterOf, KINDS, pageQuery, scanPath } from './filter.ts';
import { FilterForm } from './FilterForm.tsx';
import { Results } from './Results.tsx';
import { Snippets } from './Snippets.tsx';

const FORMATS = [['csv', 'CSV'], ['parquet', 'Parquet'], ['arrow', 'Arrow'], ['ndjson', 'NDJSON']] as const;

export function Scan() {
  const { query, url, route } = useLocation();
  const [filter, setFilter] = useState<Filter>(() => filterOf(query));
  const [run, setRun] = useState<{ filter: Filter; at: number } | null>(null);
  useTitle(`Scan ${KINDS[filter.kind].toLowerCase()}`);
  useEffect(() => {
    const next = filterOf(query);
    if (pageQuery(next) !== pageQuery(filter)) {
      setFilter(next);
      setRun(null);
    }
  }, [url]);
  const start = () => {
    if (pageQuery(filter) !== pageQuery(filterOf(query))) route(pageQuery(filter), true);
    setRun({ filter, at: Date.now() });
  };
  return (
    <>
      <h1>Scan</h1>
      <p class="quiet">Every matching row, over any number of blocks, without a cap. Check the estimate before you run.</p>
      <div class="scan">
        <section class="panel">
          <FilterForm filter={filter} change={setFilter} start={start} />
        </section>
        <div class="stack">
          <Estimate filter={filter} />
          <section class="panel">
            <header><h2>All rows as a file</h2></header>
            <div class="row">{FORMATS.map(([format, name]) => <a key={format} class="button" href={scanPath(filter, { format })} download={`${filter.kind}.${format}`}>{name}</a>)}</div>
            <p class="quiet">Files end with a summary line; if it is missing, the download was cut.</p>
          </section>
        </div>
      </div>
      <Snippets filter={filter} />
      {run && <Results key={run.at} filter={run.filter} />}
    </>
  );
}
