// The list of keys, which `?` opens.
import { render } from 'preact';

const KEYS = [['/', 'Search'], ['j, k', 'Next and previous row'], ['↑, ↓', 'The same, in a list'], ['←, →', 'Tabs of the page'], ['t', 'Theme'], ['u', 'Ages, UTC, local times'], ['?', 'This list'], ['Esc', 'Closes it']] as const;

/** Opens the list, or closes it. Its own keys and the focus are the browser's. */
export function toggleKeys(): void {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.keylist') ?? created();
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function created(): HTMLDialogElement {
  const dialog = document.createElement('dialog');
  dialog.className = 'keylist';
  dialog.setAttribute('aria-label', 'Keys');
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  render(<Content />, document.body.appendChild(dialog));
  return dialog;
}

function Content() {
  return (
    <>
      <h2>Keys</h2>
      <dl class="facts">{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <form method="dialog"><button type="submit" class="button small">Close</button></form>
    </>
  );
}
