// A panel with data, which can be saved as a file, and the SQL for it.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Copy } from '../parts/Copy.tsx';
import { sqlLink } from '../format/sql_link.ts';
import { hasSql } from '../start/base.ts';
import { csvText, saveText } from './file.ts';

interface Props { id: string; title: string; unit?: string; about?: string; sql?: string; head: string[]; rows: () => (string | number | null)[][]; hasRows: boolean; kind: string; children: ComponentChildren }

export function DataPanel({ id, title, unit, about, sql, head, rows, hasRows, kind, children }: Props) {
  const [open, setOpen] = useState(false);
  return (
    <section class={`panel ${kind}`} id={`chart-${id}`}>
      <header><h2>{title}{unit && <span class="unit">, {unit}</span>}</h2>
        <span class="row">
          {hasRows && <button type="button" class="button small" onClick={() => saveText(`${id}.csv`, csvText(head, rows()))}>CSV</button>}
          {sql && <button type="button" class="button small" aria-expanded={open} onClick={() => setOpen(!open)}>SQL</button>}
        </span>
      </header>
      {about && <p class="quiet">{about}</p>}
      {open && sql && <div class="snippet"><pre class="json" tabIndex={0}>{sql}</pre><span class="row"><Copy text={sql} what="SQL" label="Copy" />{hasSql && <a class="button small" href={sqlLink(sql)}>Open in SQL</a>}</span></div>}
      {children}
    </section>
  );
}
