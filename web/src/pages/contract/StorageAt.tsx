// A storage slot of a contract at any block.
import { useState } from 'preact/hooks';
import { call } from '../../api/request.ts';
import { group } from '../../format/amount.ts';
import { Plain } from '../../parts/Hash.tsx';

/** The input of a slot, a number or up to 32 bytes, as a word; `null` if it is neither. */
export function wordOf(text: string): string | null {
  const input = text.trim().replace(/[,_]/g, '');
  if (!/^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(input)) return null;
  const word = BigInt(input).toString(16);
  return word.length > 64 ? null : `0x${word.padStart(64, '0')}`;
}

export function StorageAt({ address }: { address: string }) {
  const [answer, setAnswer] = useState<{ word?: string; problem?: string }>({});
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const slot = wordOf(String(form.get('slot') ?? ''));
    const block = String(form.get('block') ?? '').trim().replace(/[,_]/g, '');
    if (slot === null) setAnswer({ problem: 'A slot is a number, or 0x and up to 64 digits.' });
    else if (!/^\d*$/.test(block)) setAnswer({ problem: 'A block is given by its height.' });
    else {
      const height = block ? `0x${BigInt(block).toString(16)}` : 'latest';
      setAnswer(await call<string>('eth_getStorageAt', [address, slot, height]).then((word) => ({ word }), (failure: Error) => ({ problem: failure.message })));
    }
  };
  const { word, problem } = answer;
  return (
    <section class="panel">
      <header><h2>Storage</h2></header>
      <form class="row" onSubmit={(event) => void submit(event)}>
        <input name="slot" placeholder="slot: 0 or 0x3608…" aria-label="Slot" spellcheck={false} size={24} />
        <label class="row">at block <input name="block" placeholder="newest" inputMode="numeric" size={10} /></label>
        <button type="submit" class="button small">Read</button>
      </form>
      {problem && <p class="bad" role="alert">{problem}</p>}
      {word && <output class="stack"><Plain hash={word} what="word" /><span class="quiet">{meaningOf(word)}</span></output>}
    </section>
  );
}

/** A word as a number, and as an address if it may be one. */
function meaningOf(word: string): string {
  const isAddress = /^0x0{24}(?!0{8})[0-9a-f]{40}$/i.test(word);
  return `As a number ${group(BigInt(word).toString())}${isAddress ? `, as an address 0x${word.slice(26)}` : ''}`;
}
