// An ABI that the reader pastes. It is stored in the browser.
import { useState } from 'preact/hooks';
import { storedSignal } from '../../state/storage.ts';
import type { AbiEntry } from '../../format/abi.ts';

const abis = storedSignal<Record<string, AbiEntry[]>>('abis', {}, (text) => JSON.parse(text) as Record<string, AbiEntry[]>, JSON.stringify);
/** The most contracts whose ABIs are stored. */
const MAX_CONTRACTS = 50;

export const pastedAbi = (address: string): AbiEntry[] | null => abis.value.value[address.toLowerCase()] ?? null;

/** The entries of a JSON text: a list, or an object with a list as `abi`. */
function parseAbi(text: string): AbiEntry[] {
  const parsed: unknown = JSON.parse(text);
  const list = Array.isArray(parsed) ? parsed : (parsed as { abi?: unknown } | null)?.abi;
  if (!Array.isArray(list)) throw new Error('It is not a list of entries, and has no list as "abi".');
  const isEntry = (entry: unknown): entry is AbiEntry => typeof entry === 'object' && entry !== null && typeof (entry as AbiEntry).type === 'string';
  if (!list.every(isEntry)) throw new Error('An entry of it has no type.');
  if (!list.some((entry) => entry.type === 'function')) throw new Error('It has no function.');
  return list;
}

function saveAbi(address: string, abi: AbiEntry[] | null): void {
  const { [address.toLowerCase()]: _, ...others } = abis.value.value;
  const newest = Object.fromEntries(Object.entries(others).slice(-MAX_CONTRACTS + 1));
  abis.set(abi ? { ...newest, [address.toLowerCase()]: abi } : others);
}

export function AbiForm({ address }: { address: string }) {
  const [problem, setProblem] = useState('');
  const abi = pastedAbi(address);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    try {
      saveAbi(address, parseAbi(String(new FormData(event.currentTarget as HTMLFormElement).get('abi') ?? '')));
      setProblem('');
    } catch (failure) {
      setProblem(`This is not an ABI: ${failure instanceof Error ? failure.message : String(failure)}`);
    }
  };
  return (
    <details class="paste">
      <summary>{abi ? 'Your ABI' : 'Use your own ABI'}</summary>
      <form class="tool" onSubmit={submit}>
        <label><span>ABI as JSON, stored in this browser only</span><textarea name="abi" spellcheck={false}>{abi ? JSON.stringify(abi) : ''}</textarea></label>
        <div class="row"><button type="submit" class="button small">Use</button>{abi && <button type="button" class="button small" onClick={() => saveAbi(address, null)}>Remove</button>}</div>
        {problem && <p class="bad" role="alert">{problem}</p>}
      </form>
    </details>
  );
}
