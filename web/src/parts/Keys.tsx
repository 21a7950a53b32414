// The list of keys, which `?` opens.
import { useEffect, useRef } from 'preact/hooks';

const KEYS = [['/', 'Search'], ['j, k', 'Next and previous row'], ['↑, ↓', 'The same, in a list'], ['←, →', 'Tabs of the page'], ['t', 'Theme'], ['u', 'Ages, UTC, local times'], ['?', 'This list'], ['Esc', 'Closes it']] as const;

/** Opens the list of keys, or closes it. */
export function toggleKeys(): void {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.keylist');
  if (dialog?.open) dialog.close();
  else dialog?.showModal();
}

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const closeOutside = (event: MouseEvent) => { if (event.target === dialog.current) dialog.current?.close(); };
    dialog.current?.addEventListener('click', closeOutside);
    return () => dialog.current?.removeEventListener('click', closeOutside);
  }, []);
  return (
    <dialog ref={dialog} class="keylist" aria-label="Keys">
      <h2>Keys</h2>
      <dl class="facts">{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <form method="dialog"><button type="submit" class="button small">Close</button></form>
    </dialog>
  );
}
