// Calls of the read functions of a contract, at the newest or any other block.
import { useState } from 'preact/hooks';
import { call } from '../../api/request.ts';
import { group } from '../../format/amount.ts';
import { visible } from '../../format/hash.ts';
import type { AbiEntry } from '../../format/abi.ts';

const isReadFunction = (entry: AbiEntry) => entry.type === 'function' && (entry.stateMutability === 'view' || entry.stateMutability === 'pure');

/** The read functions of an ABI; `about` says where the ABI comes from. */
export function ReadCalls({ address, abi, title = 'Read', about }: { address: string; abi: AbiEntry[]; title?: string; about?: string }) {
  const [block, setBlock] = useState('');
  const functions = abi.filter(isReadFunction);
  if (functions.length === 0) return null;
  return (
    <section class="panel">
      <header><h2>{title}</h2>
        <label class="row">at block <input value={block} onInput={(event) => setBlock(event.currentTarget.value)} placeholder="newest" inputMode="numeric" size={10} /></label>
      </header>
      {about && <p class="quiet">{about}</p>}
      {functions.map((entry, index) => <ReadFunction key={index} address={address} entry={entry} block={block.trim()} />)}
    </section>
  );
}

/** The input of a parameter as a value for viem. */
export function parseArgument(text: string, type: string): unknown {
  if (type.endsWith(']') || type.startsWith('tuple')) return JSON.parse(text);
  if (type === 'bool') return text.trim() === 'true' || text.trim() === '1';
  if (/^u?int/.test(type)) return BigInt(text.trim());
  return type === 'string' ? text : text.trim();
}

/** A result as text; single whole numbers have digit groups. */
function resultText(value: unknown): string {
  if (typeof value === 'bigint') return group(value.toString());
  return typeof value === 'string' ? value : JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part), 1);
}

function ReadFunction({ address, entry, block }: { address: string; entry: AbiEntry; block: string }) {
  const [answer, setAnswer] = useState<{ text: string; failed?: boolean } | null>(null);
  const inputs = entry.inputs ?? [];
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setAnswer({ text: '…' });
    try {
      const { encode, decode } = await import('./viem.ts');
      const parameters = inputs.map((input, index) => parseArgument(String(form.get(String(index)) ?? ''), input.type));
      const data = encode(entry, parameters);
      const height = block ? `0x${BigInt(block).toString(16)}` : 'latest';
      const result = await call<`0x${string}`>('eth_call', [{ to: address, data }, height]);
      setAnswer({ text: resultText(decode(entry, result)) });
    } catch (failure) {
      setAnswer({ text: failure instanceof Error ? (failure.message.split('\n')[0] ?? '') : String(failure), failed: true });
    }
  };
  return (
    <form class="reading" onSubmit={submit}>
      <div class="row">
        <strong class="method">{entry.name}</strong>
        {inputs.map((input, index) => <input key={index} name={String(index)} placeholder={`${input.name || `arg${index}`}: ${input.type}`} aria-label={`${input.name || `arg${index}`} (${input.type})`} />)}
        <button type="submit" class="button small">Call</button>
        <span class="quiet">{(entry.outputs ?? []).map((output) => output.type).join(', ')}</span>
      </div>
      {answer && <output class={answer.failed ? 'value bad' : 'value'}>{visible(answer.text)}</output>}
    </form>
  );
}
