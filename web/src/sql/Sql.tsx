// The SQL page: a statement, the tables beside it, an estimate of what it reads, and its rows as they arrive.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { saveBlob } from '../charts/file.ts';
import { count } from '../format/amount.ts';
import { sqlLink, statementOf } from '../format/sql_link.ts';
import { absolute } from '../format/time.ts';
import { Copy } from '../parts/Copy.tsx';
import { Failure } from '../parts/Answer.tsx';
import { useTitle } from '../parts/title.ts';
import { base, hasSql } from '../start/base.ts';
import { fetchFile, runStatement } from './client.ts';
import { examples } from './examples.ts';
import { Estimate, Limits } from './Limits.tsx';
import { logIn, login } from './login.ts';
import { LoginForm } from './LoginForm.tsx';
import { addToHistory, clearHistory, statementHistory } from './history.ts';
import { MAX_ROWS, type Outcome, Rows } from './Rows.tsx';
import { Schema } from './Schema.tsx';
import './sql.css';

/** How often rows are drawn while they arrive, in milliseconds. */
const REDRAW = 200;
const DEFAULT_STATEMENT = 'SELECT *\nFROM v_blocks\nORDER BY block_number DESC\nLIMIT 20';

export function Sql() {
  useTitle('SQL');
  return (
    <>
      <h1>SQL</h1>
      {!hasSql ? <p class="empty">This server has no SQL page: its operator can switch it on (<code>trawl-api --sql-console</code>).</p>
        : !login.value ? <LoginForm />
        : <Console key={login.value.authorization} user={login.value.user} authorization={login.value.authorization} />}
    </>
  );
}

function Console({ user, authorization }: { user: string; authorization: string }) {
  const [statement, setStatement] = useState(() => statementOf(location.hash) || statementHistory.value[0]?.statement || DEFAULT_STATEMENT);
  const [estimate, setEstimate] = useState<{ statement: string; at: number } | null>(() => (location.hash.length > 1 ? { statement: statementOf(location.hash), at: 1 } : null));
  const { outcome, start, stop } = useRun(authorization);
  const editor = useRef<HTMLTextAreaElement>(null);
  const open = (text: string) => {
    setStatement(text);
    setEstimate({ statement: text, at: Date.now() });
    editor.current?.focus();
  };
  useEffect(() => {
    const follow = () => { if (location.hash.length > 1) open(statementOf(location.hash)); };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const insert = (name: string) => {
    const at = editor.current;
    if (!at) return;
    at.setRangeText(name, at.selectionStart, at.selectionEnd, 'end');
    setStatement(at.value);
    at.focus();
  };
  const run = () => {
    history.replaceState(history.state, '', base + sqlLink(statement));
    start(statement);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === 'Escape') stop();
  };
  return (
    <>
      <p class="tools row"><span>As <strong>{user}</strong></span> <button type="button" class="button small" onClick={() => logIn(null)}>Log out</button></p>
      <Limits authorization={authorization} />
      <div class="sql">
        <div>
          <section class="panel tool">
            <label><span>Statement</span><textarea ref={editor} class="statement" spellcheck={false} autocapitalize="off" value={statement} onInput={(event) => setStatement(event.currentTarget.value)} onKeyDown={keys} /></label>
            <div class="row">
              <button type="button" class="button main" onClick={run} disabled={outcome?.state === 'running'} title="Ctrl and Enter">Run</button>
              <button type="button" class="button" onClick={() => setEstimate({ statement, at: Date.now() })}>Estimate</button>
              <Files statement={statement} authorization={authorization} />
              <Copy text={() => location.origin + base + sqlLink(statement)} what="a link that opens this statement" label="Copy link" />
            </div>
            <label><span>Example queries</span>
              <select onChange={(event) => { const found = examples[Number(event.currentTarget.value)]; if (found) open(found.statement); event.currentTarget.value = ''; }}>
                <option value="">Choose one …</option>
                {examples.map((example, index) => <option key={example.question} value={index}>{example.question}</option>)}
              </select>
            </label>
            {estimate?.statement === statement && <div aria-live="polite"><Estimate statement={estimate.statement} at={estimate.at} authorization={authorization} /></div>}
          </section>
          {outcome && <Rows key={outcome.statement} outcome={outcome} stop={stop} />}
          <History open={open} />
        </div>
        <Schema authorization={authorization} insert={insert} />
      </div>
    </>
  );
}

/** Runs one statement at a time; a new one cancels the one before. */
function useRun(authorization: string) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = (statement: string) => {
    abort.current.abort();
    const controller = new AbortController();
    abort.current = controller;
    const startedAt = Date.now();
    const current: Outcome = { statement, columns: [], rows: [], cost: null, seconds: 0, state: 'running' };
    let drawnAt = 0;
    let isCapped = false;
    const publish = (changes: Partial<Outcome> = {}) => {
      if (abort.current !== controller) return;
      drawnAt = Date.now();
      setOutcome({ ...current, rows: [...current.rows], seconds: (drawnAt - startedAt) / 1000, ...changes });
    };
    publish();
    const finish = (state: Outcome['state'], problem?: Problem) => {
      publish({ state, ...(problem && { problem }) });
      addToHistory({ statement, at: Math.floor(startedAt / 1000), rows: current.rows.length, seconds: (Date.now() - startedAt) / 1000, outcome: state === 'whole' ? 'whole' : state === 'failed' ? 'failed' : 'stopped' });
    };
    runStatement(statement, authorization, controller.signal, (batch) => {
      if (batch.columns) current.columns = batch.columns;
      if (batch.cost) current.cost = batch.cost;
      if (batch.totals) current.totals = batch.totals;
      current.rows.push(...batch.rows.slice(0, MAX_ROWS - current.rows.length));
      if (current.rows.length >= MAX_ROWS && batch.rows.length > 0) {
        isCapped = true;
        controller.abort();
      } else if (Date.now() - drawnAt > REDRAW) publish();
    }).then(() => finish('whole'), (failure: unknown) => {
      if (isCapped) finish('capped');
      else if (controller.signal.aborted) finish('stopped');
      else {
        if (failure instanceof Problem && failure.status === 401) logIn(null);
        finish('failed', failure instanceof Problem ? failure : new Problem(0, String(failure)));
      }
    });
  };
  return { outcome, start, stop: () => abort.current.abort() };
}

/** Downloads all rows as a file, for which the statement runs again. */
function Files({ statement, authorization }: { statement: string; authorization: string }) {
  const [abort, setAbort] = useState<AbortController | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (format: 'csv' | 'parquet') => {
    const controller = new AbortController();
    setAbort(controller);
    setProblem(null);
    try {
      saveBlob(`rows.${format}`, await fetchFile(statement, format, authorization, controller.signal));
    } catch (failure) {
      if (!controller.signal.aborted) setProblem(failure instanceof Problem ? failure : new Problem(0, String(failure)));
    }
    setAbort(null);
  };
  if (abort) return <button type="button" class="button" onClick={() => abort.abort()}>Cancel the file</button>;
  return (
    <>
      <button type="button" class="button" onClick={() => void save('csv')}>CSV</button>
      <button type="button" class="button" onClick={() => void save('parquet')}>Parquet</button>
      {problem && <Failure problem={problem} compact />}
    </>
  );
}

const OUTCOMES = { whole: '', stopped: ', incomplete', failed: ', failed' } as const;

/** The statements run in this browser. */
function History({ open }: { open: (statement: string) => void }) {
  if (statementHistory.value.length === 0) return null;
  return (
    <section class="panel">
      <header><h2>Your statements</h2><button type="button" class="button small" onClick={clearHistory}>Clear</button></header>
      <p class="quiet">Stored in this browser only.</p>
      <ul class="pastlist">{statementHistory.value.map((entry) => (
        <li key={entry.statement}><button type="button" class="plain id" onClick={() => open(entry.statement)}>{entry.statement.replace(/\s+/g, ' ').slice(0, 120)}</button>
          <span class="quiet">{absolute(entry.at)}, {count(entry.rows)} rows{OUTCOMES[entry.outcome]}, {entry.seconds.toFixed(1)} s</span></li>
      ))}</ul>
    </section>
  );
}
