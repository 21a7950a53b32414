// A transaction as JSON-RPC has it.
import { useEffect, useState } from 'preact/hooks';
import { call, Problem } from '../api/request.ts';
import { Copy } from '../parts/Copy.tsx';
import { Failure, Loading } from '../parts/State.tsx';

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

export function Json({ title, text, problem }: { title: string; text?: string; problem?: Problem }) {
  return (
    <section class="panel">
      <header><h2>{title}</h2>{text && <Copy text={text} what={title} label="Copy" />}</header>
      {problem ? <Failure problem={problem} compact /> : text ? <pre class="json" tabIndex={0}>{text}</pre> : <Loading />}
    </section>
  );
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
