// A button that copies a text.
import { useState } from 'preact/hooks';

export function Copy({ text, what, label }: { text: string; what: string; label?: string }) {
  const [done, setDone] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('yes');
    } catch {
      setDone('failed');
    }
    setTimeout(() => setDone('no'), 1500);
  };
  const mark = { no: label ?? '⧉', yes: '✓', failed: '✗' }[done];
  const title = { no: `Copy ${what}`, yes: 'Copied', failed: 'The browser does not allow to copy' }[done];
  return (
    <button type="button" class={label ? 'button small' : 'copy'} onClick={copy} title={title} aria-label={title}>{mark}</button>
  );
}
