// Tools: declarations by selector or hash, decoding and encoding of call data, units, hashes and checksums. Only selectors and hashes are
// sent to the server; everything else stays in the browser.
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { visible } from '../format/hash.ts';
import { checksum, keccak256 } from '../format/keccak.ts';
import { checksumNote } from '../format/query.ts';
import { plain } from '../format/trace/reason.ts';
import { inUnit, UNITS, weiOf } from '../format/units.ts';
import { Copy } from '../parts/Copy.tsx';
import { withQuery } from '../parts/list/query.ts';
import { useTitle } from '../parts/title.ts';
import { Unknown } from '../parts/Unknown.tsx';
import { topicOf } from '../scan/filter.ts';
import { serverPath } from '../start/base.ts';
import { chain } from '../state/chain.ts';
import { parseArgument } from './contract/ReadCalls.tsx';

export function Tools() {
  useTitle('Tools');
  return (
    <>
      <h1>Tools</h1>
      <Lookup />
      <Decoder />
      <Encoder />
      <Units />
      <Checksum />
    </>
  );
}

/** The declarations of a selector or of the hash of an event, from those that are loaded or built in. */
async function fetchDeclarations(hash: string): Promise<string[]> {
  const kind = hash.length === 10 ? 'signatures' : 'topic0';
  const answer = await fetch(serverPath(`/assets/${kind}/${hash.slice(2).toLowerCase()}`));
  if (answer.status >= 500 || answer.status === 429) throw new Error(`the server answered ${answer.status}`);
  return answer.ok ? (await answer.text()).split(';').filter(Boolean) : [];
}

function Lookup() {
  const { path, query, route } = useLocation();
  const words = (query['q'] ?? '').trim();
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get('q');
    route(withQuery(path, query, { q: String(text ?? '').trim() }));
  };
  return (
    <section class="panel">
      <header><h2>Functions and events</h2></header>
      <form class="tool" onSubmit={find}>
        <label><span>A selector (0x and 8 digits), the hash of an event (64 digits), or a declaration</span><input name="q" value={words} placeholder="0xa9059cbb or transfer(address,uint256)" spellcheck={false} /></label>
        <div><button type="submit" class="button">Look up</button></div>
      </form>
      {words && <Declarations words={words} />}
    </section>
  );
}

function Declarations({ words }: { words: string }) {
  const hash = topicOf(words.replace(/^(event|function|error)\s+/, ''));
  const key = hash ?? (/^0x([0-9a-f]{8}|[0-9a-f]{64})$/i.test(words) ? words.toLowerCase() : null);
  const [found, setFound] = useState<string[] | 'failed' | null>(null);
  useEffect(() => {
    let isCancelled = false;
    const show = (result: string[] | 'failed') => { if (!isCancelled) setFound(result); };
    setFound(null);
    if (key) Promise.all((hash ? [key.slice(0, 10), key] : [key]).map(fetchDeclarations)).then((all) => show([...new Set(all.flat())]), () => show('failed'));
    return () => { isCancelled = true; };
  }, [key]);
  if (!key) return <p class="bad">This is not a selector, a hash, or a declaration with its types in parentheses.</p>;
  return (
    <dl class="values">
      {hash && <><div><dt>selector</dt><dd><code>{hash.slice(0, 10)}</code> <Copy text={hash.slice(0, 10)} what="selector" /></dd></div><div><dt>event</dt><dd class="hash whole">{hash} <Copy text={hash} what="hash" /></dd></div></>}
      <div><dt>declared as</dt><dd>{found === null ? '…' : found === 'failed' ? <Unknown why="The server cannot be reached" /> : found.length === 0 ? <span class="quiet">no known declaration</span> : found.map((line) => <div key={line}><code>{visible(line)}</code></div>)}</dd></div>
      {key.length === 66 && <div><dt>logs</dt><dd><a href={`/scan?kind=logs&topic0=${key}`}>Scan for logs with it</a></dd></div>}
    </dl>
  );
}

type Outcome = { lines: string[]; failed?: boolean } | null;

function Output({ of }: { of: Outcome }) {
  if (!of) return null;
  return <output class={of.failed ? 'bad' : undefined}>{of.lines.map((line, index) => <div key={index}>{visible(line)}</div>)}{!of.failed && <Copy text={of.lines.join('\n')} what="result" label="Copy" />}</output>;
}

const failed = (failure: unknown): Outcome => ({ lines: [failure instanceof Error ? (failure.message.split('\n')[0] ?? '') : String(failure)], failed: true });
const text = (form: FormData, name: string) => String(form.get(name) ?? '').trim();
const shown = (value: unknown): string => plain(JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part))));

function Decoder() {
  const [outcome, setOutcome] = useState<Outcome>(null);
  const decode = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const data = text(form, 'data').replace(/\s/g, '');
    try {
      if (!/^0x[0-9a-f]{8}([0-9a-f]{2})*$/i.test(data)) throw new Error('Call data is 0x, the 8 digits of a selector, and an even number of further digits.');
      const { decodeCall, entryOf } = await import('./contract/viem.ts');
      const declared = text(form, 'signature') ? [text(form, 'signature')] : await fetchDeclarations(data.slice(0, 10));
      const signature = declared[0];
      if (!signature) throw new Error(`No function with the selector ${data.slice(0, 10)} is known: enter its declaration.`);
      const entry = entryOf(signature);
      const values = decodeCall(entry, data.toLowerCase() as `0x${string}`);
      setOutcome({ lines: [signature, ...values.map((value, index) => `${entry.inputs?.[index]?.name || index}: ${shown(value)}`)] });
    } catch (failure) {
      setOutcome(failed(failure));
    }
  };
  return (
    <section class="panel">
      <header><h2>Decode call data</h2></header>
      <form class="tool" onSubmit={decode}>
        <label><span>Data</span><textarea name="data" spellcheck={false} placeholder="0xa9059cbb000000…" /></label>
        <label><span>Declaration, if the function is not known</span><input name="signature" spellcheck={false} placeholder="transfer(address to, uint256 amount)" /></label>
        <div><button type="submit" class="button">Decode</button></div>
      </form>
      <Output of={outcome} />
    </section>
  );
}

function Encoder() {
  const [outcome, setOutcome] = useState<Outcome>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try {
      const { encode, entryOf } = await import('./contract/viem.ts');
      const entry = entryOf(text(form, 'signature'));
      const values = text(form, 'values').split('\n').map((line) => line.trim()).filter((line, _, all) => line !== '' || all.length > 1);
      const inputs = entry.inputs ?? [];
      if (values.length !== inputs.length) throw new Error(`The function has ${inputs.length} parameter${inputs.length === 1 ? '' : 's'}, but ${values.length} value${values.length === 1 ? ' was' : 's were'} entered.`);
      setOutcome({ lines: [encode(entry, inputs.map((input, index) => parseArgument(values[index] ?? '', input.type)))] });
    } catch (failure) {
      setOutcome(failed(failure));
    }
  };
  return (
    <section class="panel">
      <header><h2>Encode call data</h2></header>
      <form class="tool" onSubmit={submit}>
        <label><span>Declaration</span><input name="signature" spellcheck={false} placeholder="transfer(address to, uint256 amount)" required /></label>
        <label><span>Values, one per line; lists and tuples as JSON</span><textarea name="values" spellcheck={false} /></label>
        <div><button type="submit" class="button">Encode</button></div>
      </form>
      <Output of={outcome} />
    </section>
  );
}

function Units() {
  const [wei, setWei] = useState<bigint>(10n ** 18n);
  // The text of the field that is being edited is left as it is.
  const [open, setOpen] = useState<{ unit: string; text: string } | null>(null);
  const edit = (unit: string, digits: number, text: string) => {
    setOpen({ unit, text });
    const amount = weiOf(text, digits);
    if (amount !== null) setWei(amount);
  };
  return (
    <section class="panel">
      <header><h2>Units</h2></header>
      <div class="tool">
        {UNITS.map(([unit, digits]) => {
          const isOpen = open?.unit === unit;
          const text = isOpen ? open.text : inUnit(wei, digits);
          return <label key={unit}><span>{unit === 'coins' ? chain.value.symbol : unit}</span><input value={text} inputMode="decimal" aria-invalid={weiOf(text, digits) === null || undefined} onInput={(event) => edit(unit, digits, event.currentTarget.value)} onBlur={() => setOpen(null)} /></label>;
        })}
      </div>
    </section>
  );
}

function Checksum() {
  const [words, setWords] = useState('');
  const isAddress = /^0x[0-9a-f]{40}$/i.test(words.trim());
  return (
    <section class="panel">
      <header><h2>Hashes and checksums</h2></header>
      <div class="tool"><label><span>An address, or any text</span><input value={words} spellcheck={false} onInput={(event) => setWords(event.currentTarget.value)} /></label></div>
      {words && (
        <dl class="values">
          {isAddress && <div><dt>checksummed</dt><dd><a class="hash whole" href={`/address/${checksum(words.trim())}`}>{checksum(words.trim())}</a> {checksumNote(words.trim()) && <span class="bad">{checksumNote(words.trim())}.</span>}</dd></div>}
          <div><dt>keccak256</dt><dd class="hash whole">{keccak256(words)} <Copy text={keccak256(words)} what="hash" /></dd></div>
        </dl>
      )}
    </section>
  );
}
