// The reader's own name for an address: a small form that opens in place.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { names, setName } from '../state/names.ts';

export function OwnName({ address }: { address: string }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const was = useRef(false);
  // The focus goes into the form, and back to the button when it closes.
  useLayoutEffect(() => {
    if (open) field.current?.focus();
    else if (was.current) button.current?.focus();
    was.current = open;
  }, [open]);
  const now = names.value[address.toLowerCase()];
  if (!open) {
    return <button ref={button} type="button" class="button small" onClick={() => setOpen(true)} title="A name of your own, stored in this browser only">{now ? `Private name: ${now}` : 'Add private name'}</button>;
  }
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const name = new FormData(event.currentTarget as HTMLFormElement).get('name');
    setName(address, typeof name === 'string' ? name : '');
    setOpen(false);
  };
  return (
    <form class="row" onSubmit={save} onKeyDown={(event) => { if (event.key === 'Escape') setOpen(false); }}>
      <input ref={field} name="name" value={now ?? ''} maxLength={100} placeholder="Your name for it" aria-label="Your name for this address" />
      <button type="submit" class="button small">Keep</button>
      <button type="button" class="button small" onClick={() => setOpen(false)}>Cancel</button>
    </form>
  );
}
