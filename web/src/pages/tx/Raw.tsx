// The JSON-RPC objects of a transaction.
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
    let isCancelled = false;
    setState({});
    call<unknown>(method, parameters).then(
      (result) => { if (!isCancelled) setState({ text: JSON.stringify(result, null, 2) }); },
      (failure: unknown) => { if (!isCancelled) setState({ problem: failure as Problem }); },
    );
    return () => { isCancelled = true; };
  }, [method, key]);
  return state;
}

/** How many characters of a long text are shown at first. */
const MAX_LENGTH = 10_000;

/** A JSON text; long ones, or all with `offerDownload`, can be downloaded. */
export function Json({ title, text, problem, offerDownload }: { title: string; text?: string; problem?: Problem; offerDownload?: boolean }) {
  const [all, setAll] = useState(false);
  const isLong = (text?.length ?? 0) > 2 * MAX_LENGTH;
  return (
    <section class="panel">
      <header><h2>{title}</h2>{text && <span class="row">{(isLong || offerDownload) && <Download text={text} name={title} />}<Copy text={text} what={title} label="Copy" /></span>}</header>
      {problem ? <Failure problem={problem} compact /> : text ? <pre class="json" tabIndex={0}>{isLong && !all ? `${text.slice(0, MAX_LENGTH)}…` : text}</pre> : <Loading />}
      {text && isLong && !all && <p class="row"><span class="quiet">The first {count(MAX_LENGTH)} of {count(text.length)} characters.</span> <button type="button" class="button small" onClick={() => setAll(true)}>Show all</button></p>}
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

/** Sections appear from the top down, so that the layout does not shift. */
const isLoaded = (part: { text?: string; problem?: Problem }) => part.text !== undefined || part.problem !== undefined;

export function Raw({ hash }: { hash: string }) {
  const transaction = useCall('eth_getTransactionByHash', [hash]);
  const receipt = useCall('eth_getTransactionReceipt', [hash]);
  const trace = useCall('trace_transaction', [hash]);
  return (
    <>
      <Json title="Transaction" {...transaction} />
      {isLoaded(transaction) && <Json title="Receipt" {...receipt} />}
      {isLoaded(transaction) && isLoaded(receipt) && <Json title="Call frames" {...trace} />}
    </>
  );
}
