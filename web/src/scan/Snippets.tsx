// Snippets that run the scan with other tools.
import { useState } from 'preact/hooks';
import { Copy } from '../parts/Copy.tsx';
import { sqlLink } from '../format/sql_link.ts';
import { base, hasSql } from '../start/base.ts';
import type { Filter } from './filter.ts';
import { curl, python, sql, viem } from './snippets.ts';

const TOOLS = [['curl', curl], ['Python', python], ['viem', viem], ['SQL', (filter: Filter) => sql(filter)]] as const;

export function Snippets({ filter }: { filter: Filter }) {
  const [toolIndex, setToolIndex] = useState(0);
  const chosen = TOOLS[toolIndex] ?? TOOLS[0];
  const text = chosen[1](filter, location.origin + base);
  return (
    <section class="panel">
      <header><h2>Use with other tools</h2>
        <span class="row"><span class="choice">{TOOLS.map(([name], index) => <button key={name} type="button" aria-pressed={index === toolIndex} onClick={() => setToolIndex(index)}>{name}</button>)}</span><Copy text={text} what={chosen[0]} label="Copy" />{hasSql && chosen[0] === 'SQL' && <a class="button small" href={sqlLink(text)}>Open in SQL</a>}</span>
      </header>
      <pre class="json" tabIndex={0}>{text}</pre>
    </section>
  );
}
