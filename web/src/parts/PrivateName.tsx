// The private name of an address, with a form that opens in place.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { names, setName } from '../state/names.ts';

export function PrivateName({ address }: { address: string }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const wasOpen = useRef(false);
  // The focus goes into the form, and back to the button when it closes.
  useLayoutEffect(() => {
    if (open) field.current?.focus();
    else if (wasOpen.current) button.current?.focus();
    wasOpen.current = open;
  }, [open]);
  const name = names.value[address.toLowerCase()];
  if (!open) {
    return <button ref={button} type="button" class="button small" onClick={() => setOpen(true)} title="A private name, stored in this browser only">{name ? `Private name: ${name}` : 'Add private name'}</button>;
  }
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget as HTMLFormElement).get('name');
    setName(address, typeof value === 'string' ? value : '');
    setOpen(false);
  };
  return (
    <form class="row" onSubmit={save} onKeyDown={(event) => { if (event.key === 'Escape') setOpen(false); }}>
      <input ref={field} name="name" value={name ?? ''} maxLength={100} placeholder="Private name" aria-label="Private name of this address" />
      <button type="submit" class="button small">Save</button>
      <button type="button" class="button small" onClick={() => setOpen(false)}>Cancel</button>
    </form>
  );
}
