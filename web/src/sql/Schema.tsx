// The tables and columns that the account may read. A click inserts a name into the statement.
import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { count } from '../format/amount.ts';
import { Failure, Loading } from '../parts/Answer.tsx';
import { fetchRows } from './client.ts';

interface TableInfo { name: string; isOwn: boolean; comment: string; rows: number | null; columns: { name: string; type: string; comment: string }[] }

const TABLES = `SELECT database, name, comment, ifNull(toString(total_rows), '')
FROM system.tables
WHERE database IN (currentDatabase(), concat(currentDatabase(), '_views')) AND NOT startsWith(name, '.')
ORDER BY NOT startsWith(name, 'v_'), database, name`;
const COLUMNS = `SELECT database, table, name, type, comment
FROM system.columns
WHERE database IN (currentDatabase(), concat(currentDatabase(), '_views'))
ORDER BY database, table, position`;

async function fetchTables(authorization: string, signal: AbortSignal): Promise<TableInfo[]> {
  const tables = (await fetchRows(TABLES, authorization, signal)).rows;
  const columns = (await fetchRows(COLUMNS, authorization, signal)).rows;
  const own = tables.find(([database]) => !database?.endsWith('_views'))?.[0];
  const byTable = new Map<string, TableInfo['columns']>();
  for (const [database = '', table = '', name = '', type = '', comment = ''] of columns) {
    const key = `${database}.${table}`;
    byTable.set(key, [...(byTable.get(key) ?? []), { name, type, comment }]);
  }
  return tables.map(([database = '', name = '', comment = '', rows = '']) => {
    const isOwn = database === own || own === undefined;
    return { name: isOwn ? name : `${database}.${name}`, isOwn, comment, rows: rows === '' ? null : Number(rows), columns: byTable.get(`${database}.${name}`) ?? [] };
  });
}

export function Schema({ authorization, insert }: { authorization: string; insert: (name: string) => void }) {
  const [tables, setTables] = useState<TableInfo[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [filter, setFilter] = useState('');
  useEffect(() => {
    const stop = new AbortController();
    fetchTables(authorization, stop.signal).then(setTables, (failure: unknown) => {
      if (!stop.signal.aborted) setProblem(failure instanceof Problem ? failure : new Problem(0, String(failure)));
    });
    return () => stop.abort();
  }, [authorization]);
  const matches = (table: TableInfo) => !filter || table.name.includes(filter) || table.columns.some((column) => column.name.includes(filter));
  return (
    <section class="panel schema">
      <header><h2>Tables</h2></header>
      <label class="stack"><span class="hidden">Filter tables and columns</span><input type="search" placeholder="Filter tables and columns" value={filter} onInput={(event) => setFilter(event.currentTarget.value.trim().toLowerCase())} /></label>
      {problem ? <Failure problem={problem} compact /> : !tables ? <Loading lines={8} /> : (
        <ul class="tables" tabIndex={0} aria-label="Tables and views">{tables.filter(matches).map((table) => <TableItem key={table.name} table={table} insert={insert} />)}</ul>
      )}
    </section>
  );
}

function TableItem({ table, insert }: { table: TableInfo; insert: (name: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <span class="row">
        <button type="button" class="fold" aria-expanded={open} aria-label={`Columns of ${table.name}`} onClick={() => setOpen(!open)}>{open ? '▾' : '▸'}</button>
        <button type="button" class="plain id" title={table.comment} onClick={() => insert(table.name)}>{table.name}</button>
        {table.rows !== null && <span class="unit">{count(table.rows)}</span>}
      </span>
      {open && table.comment && <p class="quiet">{table.comment}</p>}
      {open && (
        <ul>{table.columns.map((column) => (
          <li key={column.name}><button type="button" class="plain id" title={column.comment} onClick={() => insert(column.name)}>{column.name}</button> <span class="unit">{column.type}</span>
            {column.comment && <span class="quiet comment">{column.comment}</span>}</li>
        ))}</ul>
      )}
    </li>
  );
}
