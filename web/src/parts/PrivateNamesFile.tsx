// Private names as a file, to move them to another browser.
import { useState } from 'preact/hooks';
import { importNames, names } from '../state/names.ts';

export function PrivateNamesFile() {
  const [message, setMessage] = useState('');
  const count = Object.keys(names.value).length;
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(names.value, null, 2)], { type: 'application/json' }));
    link.download = 'names.json';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const load = async (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    if (!file) return;
    try {
      setMessage(`Names added: ${importNames(await file.text())}.`);
    } catch (failure) {
      setMessage(`No names were added. ${failure instanceof Error ? failure.message : ''}`);
    }
    input.value = '';
  };
  return (
    <span class="row">
      <a href="/names">{count} private name{count === 1 ? '' : 's'}</a>
      <button type="button" class="button small" onClick={save} disabled={count === 0}>Save as file</button>
      <label class="button small">Load from file<input type="file" class="hidden" accept="application/json,.json" onChange={load} /></label>
      {message && <span role="status">{message}</span>}
    </span>
  );
}
