// The calls of a transaction as a tree that folds.
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../api/use.ts';
import { count } from '../format/amount.ts';
import { checksum } from '../format/keccak.ts';
import { Address } from '../parts/Address.tsx';
import { Coins } from '../parts/Amount.tsx';
import { Bytes } from '../parts/Hash.tsx';
import { Shown } from '../parts/State.tsx';
import { failureOf, type Frame, type Node, originOf, selectorOf, treeOf, treeText } from '../format/trace.ts';
import { Copy } from '../parts/Copy.tsx';

const MOST_NAMES = 40;

/** Names of the functions with these selectors, as the server knows them. */
function useNames(selectors: string[]): Record<string, string> {
  const [names, setNames] = useState<Record<string, string>>({});
  const key = selectors.join();
  useEffect(() => {
    for (const selector of selectors.slice(0, MOST_NAMES)) {
      fetch(`/assets/signatures/${selector.slice(2)}`).then(async (answer) => {
        if (!answer.ok) return;
        const name = (await answer.text()).split(';')[0]?.split('(')[0];
        if (name) setNames((before) => ({ ...before, [selector]: name }));
      }, () => {});
    }
  }, [key]);
  return names;
}

export function Trace({ hash }: { hash: string }) {
  const answer = useApi<Frame[]>(`/api/v2/transactions/${hash}/raw-trace?reasons=1`);
  const selectors = [...new Set((answer.data ?? []).filter((frame) => frame.type === 'call' && (frame.action.input?.length ?? 0) >= 10).map((frame) => frame.action.input?.slice(0, 10) ?? ''))];
  const names = useNames(selectors);
  const [all, setAll] = useState(0);
  return (
    <Shown answer={answer} lines={8}>
      {(frames) => {
        const root = treeOf(frames);
        if (!root) return <p class="empty">No calls are known.</p>;
        return (
          <section class="panel">
            <header><h2>{count(frames.length)} call{frames.length === 1 ? '' : 's'}</h2>
              <span class="row">
                <button type="button" class="button small" onClick={() => setAll(Math.abs(all) + 1)}>Unfold all</button>
                <button type="button" class="button small" onClick={() => setAll(-Math.abs(all) - 1)}>Fold all</button>
                <Copy text={treeText(root, names)} what="calls as text" label="Copy as text" />
              </span>
            </header>
            {root.failed && <p class="bad">It failed where the calls are {count(originOf(root).frame.traceAddress.length + 1)} deep. {failureOf(originOf(root))}</p>}
            <ul class="tree"><Call node={root} names={names} depth={0} all={all} /></ul>
          </section>
        );
      }}
    </Shown>
  );
}

const party = (address: string | undefined) => <Address of={address ? { hash: checksum(address) } : null} />;

function Call({ node, names, depth, all }: { node: Node; names: Record<string, string>; depth: number; all: number }) {
  const [open, setOpen] = useState(depth < 4 || node.failed === 'below');
  const [details, setDetails] = useState(false);
  useEffect(() => {
    if (all !== 0) setOpen(all > 0);
  }, [all]);
  const { action, error, result, type } = node.frame;
  const selector = selectorOf(node);
  const kind = type === 'call' ? (action.callType ?? 'call') : type === 'suicide' ? 'selfdestruct' : (action.creationMethod ?? 'create');
  const target = type === 'create' ? result?.address : type === 'suicide' ? action.refundAddress : action.to;
  const value = action.value ?? action.balance;
  return (
    <li>
      <div class={error ? 'call failed' : 'call'}>
        {node.calls.length > 0
          ? <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)} aria-label={open ? 'Fold' : `Unfold ${node.calls.length} calls`}>{open ? '▾' : '▸'}</button>
          : <span class="fold" />}
        <span class="kindname">{kind}</span>
        {party(target)}
        {selector && selector.length === 10 && <span class="method" title={selector}>{names[selector] ?? selector}</span>}
        {value && value !== '0x0' && <Coins wei={BigInt(value).toString()} />}
        {node.failed && <span class="badge bad" title={failureOf(node)}>failed</span>}
        <span class="quiet gas">{result?.gasUsed ? `${count(Number(result.gasUsed))} gas` : ''}</span>
        <button type="button" class="button small" aria-expanded={details} onClick={() => setDetails(!details)}>Data</button>
      </div>
      {node.failed === 'here' && <p class="call reason">{failureOf(node)}</p>}
      {details && (
        <dl class="values">
          <div><dt>from</dt><dd>{party(action.from ?? action.address)}</dd></div>
          <div><dt>input</dt><dd><Bytes data={action.input ?? action.init ?? '0x'} what="input" /></dd></div>
          <div><dt>output</dt><dd><Bytes data={result?.output ?? result?.code} what="output" /></dd></div>
        </dl>
      )}
      {open && node.calls.length > 0 && <ul>{node.calls.map((child, index) => <Call key={index} node={child} names={names} depth={depth + 1} all={all} />)}</ul>}
    </li>
  );
}
