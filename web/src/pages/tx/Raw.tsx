// A transaction as JSON-RPC has it.
import { useEffect, useState } from 'preact/hooks';
import { call, Problem } from '../../api/request.ts';
import { count } from '../../format/amount.ts';
import { Copy } from '../../parts/Copy.tsx';
import { Failure, Loading } from '../../parts/Answer.tsx';

/** The answer of a JSON-RPC method, as text. */
export function useCall(method: string, parameters: unknown[]): { text?: string; problem?: Problem } {
  const [state, setState] = useState<{ text?: string; problem?: Problem }>({});
  const key = JSON.stringify(parameters);
  useEffect(() => {
    let left = false;
    setState({});
    call<unknown>(method, parameters).then(
      (result) => { if (!left) setState({ text: JSON.stringify(result, null, 2) }); },
      (failure: unknown) => { if (!left) setState({ problem: failure as Problem }); },
    );
    return () => { left = true; };
  }, [method, key]);
  return state;
}

/** Characters that are shown of a long text before somebody wants all of it. */
const MOST = 10_000;

/** `keep` offers it as a file also where it is short. */
export function Json({ title, text, problem, keep }: { title: string; text?: string; problem?: Problem; keep?: boolean }) {
  const [all, setAll] = useState(false);
  const isLong = (text?.length ?? 0) > 2 * MOST;
  return (
    <section class="panel">
      <header><h2>{title}</h2>{text && <span class="row">{(isLong || keep) && <Download text={text} name={title} />}<Copy text={text} what={title} label="Copy" /></span>}</header>
      {problem ? <Failure problem={problem} compact /> : text ? <pre class="json" tabIndex={0}>{isLong && !all ? `${text.slice(0, MOST)}…` : text}</pre> : <Loading />}
      {text && isLong && !all && <p class="row"><span class="quiet">The first {count(MOST)} of {count(text.length)} characters.</span> <button type="button" class="button small" onClick={() => setAll(true)}>Show all</button></p>}
    </section>
  );
}

function Download({ text, name }: { text: string; name: string }) {
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    link.download = `${name.toLowerCase().replaceAll(' ', '-')}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return <button type="button" class="button small" onClick={save}>Download</button>;
}

/** Parts appear from the top down, so that none moves another. */
const isThere = (part: { text?: string; problem?: Problem }) => part.text !== undefined || part.problem !== undefined;

export function Raw({ hash }: { hash: string }) {
  const transaction = useCall('eth_getTransactionByHash', [hash]);
  const receipt = useCall('eth_getTransactionReceipt', [hash]);
  const trace = useCall('trace_transaction', [hash]);
  return (
    <>
      <Json title="Transaction" {...transaction} />
      {isThere(transaction) && <Json title="Receipt" {...receipt} />}
      {isThere(transaction) && isThere(receipt) && <Json title="Call frames" {...trace} />}
    </>
  );
}
