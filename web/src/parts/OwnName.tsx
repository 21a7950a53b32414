// The reader's own name for an address: a small form that opens in place.
import { useState } from 'preact/hooks';
import { names, setName } from '../state/names.ts';

export function OwnName({ address }: { address: string }) {
  const [open, setOpen] = useState(false);
  const now = names.value[address.toLowerCase()];
  if (!open) {
    return <button type="button" class="button small" onClick={() => setOpen(true)} title="A name of your own, kept in this browser alone">{now ? `Your name: ${now}` : 'Name it'}</button>;
  }
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const name = new FormData(event.currentTarget as HTMLFormElement).get('name');
    setName(address, typeof name === 'string' ? name : '');
    setOpen(false);
  };
  return (
    <form class="row" onSubmit={save}>
      <input name="name" value={now ?? ''} maxLength={100} placeholder="Your name for it" aria-label="Your name for this address" autoFocus />
      <button type="submit" class="button small">Keep</button>
      <button type="button" class="button small" onClick={() => setOpen(false)}>Cancel</button>
    </form>
  );
}
