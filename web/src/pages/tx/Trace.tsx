// The calls of a transaction as a foldable tree, with their parameters, results and values.
import { useMemo, useState } from 'preact/hooks';
import type { AddressRef, Token } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { count } from '../../format/amount.ts';
import { checksum } from '../../format/keccak.ts';
import { Address } from '../../parts/Address.tsx';
import { Argument } from '../../parts/Argument.tsx';
import { Coins } from '../../parts/Amount.tsx';
import { Bytes } from '../../parts/Hash.tsx';
import { AnswerView } from '../../parts/Answer.tsx';
import { hasTokenAmounts } from '../../format/tokens/amounts.ts';
import { failureOf, type Frame, type Node, originOf, type DecodedCall, selectorOf, treeOf, treeText } from '../../format/trace/tree.ts';
import { type Row, rowsOf } from '../../format/trace/rows.ts';
import { Chunks } from '../../parts/list/Chunks.tsx';
import { Copy } from '../../parts/Copy.tsx';
import { Call } from '../Logs.tsx';
import { type AddressBook, ValueFlow } from './ValueFlow.tsx';

interface Calls { frames: Frame[]; decoded: DecodedCall[]; addresses: AddressRef[]; tokens: Token[] }

export function Trace({ hash }: { hash: string }) {
  const answer = useApi<Calls>(`/api/v2/transactions/${hash}/calls`);
  return <AnswerView answer={answer} lines={8}>{(data) => <Tree hash={hash} data={data} />}</AnswerView>;
}

/** How many levels are unfolded at first: more if there are few calls. */
const levelsOf = (frames: number) => (frames <= 300 ? 16 : 4);

function Tree({ hash, data }: { hash: string; data: Calls }) {
  const root = useMemo(() => treeOf(data.frames, data.decoded), [data]);
  const book = useMemo<AddressBook>(() => ({
    addresses: new Map(data.addresses.map((item) => [item.hash.toLowerCase(), item])),
    tokens: new Map(data.tokens.map((item) => [item.address_hash.toLowerCase(), item])),
  }), [data]);
  // What the reader has folded or unfolded since "Unfold all" or "Fold all".
  const [folding, setFolding] = useState<{ all: boolean | null; overrides: ReadonlyMap<string, boolean> }>({ all: null, overrides: new Map() });
  const rows = useMemo(() => {
    const levels = levelsOf(data.frames.length);
    const isOpen = (id: string, node: Node, depth: number, isRun: boolean) => folding.overrides.get(id) ?? (isRun ? false : folding.all ?? (depth < levels || node.failed === 'below'));
    return root ? rowsOf(root, isOpen) : [];
  }, [root, folding]);
  if (!root) return <p class="empty">No calls are known.</p>;
  const toggle = (id: string, open: boolean) => setFolding(({ all, overrides }) => ({ all, overrides: new Map(overrides).set(id, open) }));
  const origin = root.failed ? originOf(root) : null;
  return (
    <ValueFlow hash={hash} root={root} book={book}>
      <section class="panel">
        <header><h2>{count(data.frames.length)} call{data.frames.length === 1 ? '' : 's'}</h2>
          <span class="row">
            <button type="button" class="button small" onClick={() => setFolding({ all: true, overrides: new Map() })}>Unfold all</button>
            <button type="button" class="button small" onClick={() => setFolding({ all: false, overrides: new Map() })}>Fold all</button>
            <Copy text={() => treeText(root)} what="calls as text" label="Copy as text" />
          </span>
        </header>
        {origin && <p class="bad">It failed at call depth {count(origin.frame.traceAddress.length + 1)}. {failureOf(origin)}</p>}
        <ul class="tree"><Chunks items={rows} row={(row) => (row.more ? <Run key={row.id} row={row} toggle={toggle} /> : <CallRow key={row.id} row={row} book={book} toggle={toggle} />)} /></ul>
      </section>
    </ValueFlow>
  );
}

type Toggle = (id: string, open: boolean) => void;

/** The greatest indentation; deeper calls have their depth in front. */
const MAX_INDENT = 12;
const indent = (depth: number) => ({ '--depth': String(Math.min(depth, MAX_INDENT)) });

function Run({ row: { id, depth, isOpen, more }, toggle }: { row: Row; toggle: Toggle }) {
  return (
    <li class="call run" style={indent(depth)}>
      <button type="button" class="button small" aria-expanded={isOpen} onClick={() => toggle(id, !isOpen)}>{isOpen ? `Fold the ${count(more)} calls like the one above` : `× ${count((more ?? 0) + 1)}: unfold ${count(more)} more calls like this`}</button>
    </li>
  );
}

const party = (address: string | undefined, book: AddressBook) => <Address of={address ? book.addresses.get(address.toLowerCase()) ?? { hash: checksum(address) } : null} />;

function CallRow({ row: { node, depth, id, isOpen }, book, toggle }: { row: Row; book: AddressBook; toggle: Toggle }) {
  const [details, setDetails] = useState(false);
  const { action, error, result, type } = node.frame;
  const kind = type === 'call' ? (action.callType ?? 'call') : type === 'suicide' ? 'selfdestruct' : (action.creationMethod ?? 'create');
  const target = type === 'create' ? result?.address : type === 'suicide' ? action.refundAddress : action.to;
  const value = action.value ?? action.balance;
  return (
    <li class={error ? 'call failed' : 'call'} style={indent(depth)} data-row>
      <div class="line">
        {node.calls.length > 0
          ? <button type="button" class="fold" aria-expanded={isOpen} onClick={() => toggle(id, !isOpen)} aria-label={isOpen ? 'Fold' : `Unfold ${node.calls.length} calls`}>{isOpen ? '▾' : '▸'}</button>
          : <span class="fold" />}
        {depth > MAX_INDENT && <span class="count" title="Call depth">{depth}</span>}
        <span class="kindname">{kind}</span>
        {party(target, book)}
        <FunctionCall node={node} book={book} />
        {value && value !== '0x0' && <Coins wei={BigInt(value).toString()} />}
        {node.failed && <span class="badge bad" title={failureOf(node)}>failed</span>}
        <span class="quiet gas">{result?.gasUsed ? `${count(Number(result.gasUsed))} gas` : ''}</span>
        <button type="button" class="button small" aria-expanded={details} onClick={() => setDetails(!details)}>Data</button>
      </div>
      {node.failed === 'here' && <p class="reason">{failureOf(node)}</p>}
      {details && <Data node={node} book={book} />}
    </li>
  );
}

const MAX_PARAMETERS = 6;

/** The called function, with parameters and results in one line. */
function FunctionCall({ node, book }: { node: Node; book: AddressBook }) {
  const selector = selectorOf(node);
  if (selector?.length !== 10) return null;
  const { method = null, input = null, output = null } = node.read ?? {};
  const callee = book.tokens.get(node.frame.action.to?.toLowerCase() ?? '');
  const token = callee && hasTokenAmounts(callee, selector) ? callee : null;
  const parameters = input?.parameters ?? [];
  const item = ({ name, type, value }: { name: string; type: string; value: unknown }, index: number) => (
    <span key={index}>{index > 0 && ', '}{name && !/^arg\d+$/.test(name) && <span class="quiet">{name}: </span>}<Argument type={type} value={value} addresses={book.addresses} token={token} /></span>
  );
  return (
    <span class="function"><span class="method" title={input?.method_call ?? selector}>{method ?? selector}</span>
      {input && <>{' '}({parameters.slice(0, MAX_PARAMETERS).map(item)}{parameters.length > MAX_PARAMETERS && <span class="quiet">, {parameters.length - MAX_PARAMETERS} more</span>})</>}
      {output && output.length > 0 && <> <span class="quiet">→</span> {output.slice(0, MAX_PARAMETERS).map(item)}</>}
    </span>
  );
}

function Data({ node, book }: { node: Node; book: AddressBook }) {
  const { action, result } = node.frame;
  return (
    <div class="data">
      {node.read?.input && <Call of={node.read.input} />}
      <dl class="values">
        <div><dt>from</dt><dd>{party(action.from ?? action.address, book)}</dd></div>
        <div><dt>input</dt><dd><Bytes data={action.input ?? action.init ?? '0x'} what="input" /></dd></div>
        <div><dt>output</dt><dd><Bytes data={result?.output ?? result?.code} what="output" /></dd></div>
      </dl>
    </div>
  );
}
