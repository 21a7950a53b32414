// The SQL page: a statement, the tables beside it, what it would read, and its rows as they come.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/request.ts';
import { saveBlob } from '../charts/file.ts';
import { count } from '../format/amount.ts';
import { sqlLink, statementOf } from '../format/sql_link.ts';
import { absolute } from '../format/time.ts';
import { Copy } from '../parts/Copy.tsx';
import { Failure } from '../parts/State.tsx';
import { useTitle } from '../parts/title.ts';
import { base, hasSql } from '../start/base.ts';
import { file, run } from './ask.ts';
import { examples } from './examples.ts';
import { Estimate, Limits } from './Limits.tsx';
import { logIn, login } from './login.ts';
import { LoginForm } from './LoginForm.tsx';
import { forget, note, past } from './past.ts';
import { MOST_ROWS, type Outcome, Rows } from './Rows.tsx';
import { Schema } from './Schema.tsx';
import './sql.css';

const REDRAW = 200;
const FIRST = 'SELECT *\nFROM v_blocks\nORDER BY block_number DESC\nLIMIT 20';

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
  const [statement, setStatement] = useState(() => statementOf(location.hash) || past.value[0]?.statement || FIRST);
  const [estimated, setEstimated] = useState<{ statement: string; at: number } | null>(() => (location.hash.length > 1 ? { statement: statementOf(location.hash), at: 1 } : null));
  const { outcome, start, stop } = useRun(authorization);
  const editor = useRef<HTMLTextAreaElement>(null);
  const open = (text: string) => {
    setStatement(text);
    setEstimated({ statement: text, at: Date.now() });
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
  const begin = () => {
    history.replaceState(history.state, '', base + sqlLink(statement));
    start(statement);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      begin();
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
              <button type="button" class="button main" onClick={begin} disabled={outcome?.state === 'running'} title="Ctrl and Enter">Run</button>
              <button type="button" class="button" onClick={() => setEstimated({ statement, at: Date.now() })}>What it reads</button>
              <Files statement={statement} authorization={authorization} />
              <Copy text={() => location.origin + base + sqlLink(statement)} what="a link that opens this statement" label="Copy link" />
            </div>
            <label><span>Questions of the guide</span>
              <select onChange={(event) => { const found = examples[Number(event.currentTarget.value)]; if (found) open(found.statement); event.currentTarget.value = ''; }}>
                <option value="">Open one …</option>
                {examples.map((example, index) => <option key={example.question} value={index}>{example.question}</option>)}
              </select>
            </label>
            {estimated?.statement === statement && <div aria-live="polite"><Estimate statement={estimated.statement} at={estimated.at} authorization={authorization} /></div>}
          </section>
          {outcome && <Rows key={outcome.statement} outcome={outcome} stop={stop} />}
          <Log open={open} />
        </div>
        <Schema authorization={authorization} insert={insert} />
      </div>
    </>
  );
}

/** Runs one statement at a time; the one before is ended. */
function useRun(authorization: string) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = (statement: string) => {
    abort.current.abort();
    const stopping = new AbortController();
    abort.current = stopping;
    const began = Date.now();
    const so: Outcome = { statement, columns: [], rows: [], cost: null, seconds: 0, state: 'running' };
    let drawn = 0;
    let isCapped = false;
    const tell = (more: Partial<Outcome> = {}) => {
      if (abort.current !== stopping) return;
      drawn = Date.now();
      setOutcome({ ...so, rows: [...so.rows], seconds: (drawn - began) / 1000, ...more });
    };
    tell();
    const ended = (state: Outcome['state'], problem?: Problem) => {
      tell({ state, ...(problem && { problem }) });
      note({ statement, at: Math.floor(began / 1000), rows: so.rows.length, seconds: (Date.now() - began) / 1000, outcome: state === 'whole' ? 'whole' : state === 'failed' ? 'failed' : 'stopped' });
    };
    run(statement, authorization, stopping.signal, (news) => {
      if (news.columns) so.columns = news.columns;
      if (news.cost) so.cost = news.cost;
      if (news.totals) so.totals = news.totals;
      so.rows.push(...news.rows.slice(0, MOST_ROWS - so.rows.length));
      if (so.rows.length >= MOST_ROWS && news.rows.length > 0) {
        isCapped = true;
        stopping.abort();
      } else if (Date.now() - drawn > REDRAW) tell();
    }).then(() => ended('whole'), (failure: unknown) => {
      if (isCapped) ended('capped');
      else if (stopping.signal.aborted) ended('stopped');
      else {
        if (failure instanceof Problem && failure.status === 401) logIn(null);
        ended('failed', failure instanceof Problem ? failure : new Problem(0, String(failure)));
      }
    });
  };
  return { outcome, start, stop: () => abort.current.abort() };
}

/** All rows as a file: the statement runs again for it. */
function Files({ statement, authorization }: { statement: string; authorization: string }) {
  const [abort, setAbort] = useState<AbortController | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (format: 'csv' | 'parquet') => {
    const stopping = new AbortController();
    setAbort(stopping);
    setProblem(null);
    try {
      saveBlob(`rows.${format}`, await file(statement, format, authorization, stopping.signal));
    } catch (failure) {
      if (!stopping.signal.aborted) setProblem(failure instanceof Problem ? failure : new Problem(0, String(failure)));
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

const OUTCOMES = { whole: '', stopped: ', not all', failed: ', failed' } as const;

/** What was run in this browser. */
function Log({ open }: { open: (statement: string) => void }) {
  if (past.value.length === 0) return null;
  return (
    <section class="panel">
      <header><h2>Your statements</h2><button type="button" class="button small" onClick={forget}>Forget them</button></header>
      <p class="quiet">Kept in this browser alone.</p>
      <ul class="pastlist">{past.value.map((one) => (
        <li key={one.statement}><button type="button" class="plain id" onClick={() => open(one.statement)}>{one.statement.replace(/\s+/g, ' ').slice(0, 120)}</button>
          <span class="quiet">{absolute(one.at)}, {count(one.rows)} rows{OUTCOMES[one.outcome]}, {one.seconds.toFixed(1)} s</span></li>
      ))}</ul>
    </section>
  );
}
