// A button that copies a text.
import { useState } from 'preact/hooks';

/** Copies `text`, or the result of a function, which is called on the click. */
export function Copy({ text, what, label }: { text: string | (() => string); what: string; label?: string }) {
  const [state, setState] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setState('yes');
    } catch {
      setState('failed');
    }
    setTimeout(() => setState('no'), 1500);
  };
  const mark = { no: label ?? <Sheets />, yes: label ? 'Copied' : '✓', failed: label ? 'Not allowed' : '✗' }[state];
  const title = { no: `Copy ${what}`, yes: 'Copied', failed: 'The browser does not allow copying' }[state];
  return (
    <button type="button" class={label ? 'button small' : 'copy'} onClick={copy} title={title} aria-label={label ? undefined : title}>{mark}</button>
  );
}

const Sheets = () => (
  <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" fill="none" stroke="currentColor" stroke-width="1.300" stroke-linejoin="round" /></svg>
);
