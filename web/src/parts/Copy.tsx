// A button that copies a text.
import { useState } from 'preact/hooks';

/** A text, or what makes it when it is wanted. */
export function Copy({ text, what, label }: { text: string | (() => string); what: string; label?: string }) {
  const [done, setDone] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setDone('yes');
    } catch {
      setDone('failed');
    }
    setTimeout(() => setDone('no'), 1500);
  };
  const mark = { no: label ?? <Sheets />, yes: label ? 'Copied' : '✓', failed: label ? 'Not allowed' : '✗' }[done];
  const title = { no: `Copy ${what}`, yes: 'Copied', failed: 'The browser does not allow to copy' }[done];
  return (
    <button type="button" class={label ? 'button small' : 'copy'} onClick={copy} title={title} aria-label={label ? undefined : title}>{mark}</button>
  );
}

const Sheets = () => (
  <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" fill="none" stroke="currentColor" stroke-width="1.300" stroke-linejoin="round" /></svg>
);
