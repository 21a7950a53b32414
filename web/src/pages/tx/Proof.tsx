// The proof that a receipt belongs to its block, and its check in the browser.
import { useState } from 'preact/hooks';
import type { ReceiptProof } from '../../format/proof.ts';
import { count } from '../../format/amount.ts';
import { Json, useCall } from './Raw.tsx';

export function Proof({ hash }: { hash: string }) {
  const proof = useCall('trawl_getReceiptProof', [hash]);
  return (
    <>
      <p>Whoever knows the hash of the block can check the receipt of this transaction, and with it its logs, without trusting this server:
        the hash of <code>header</code> is that of the block, its sixth item is the root of the receipt trie, and <code>proof</code> leads from there along <code>key</code> to <code>receipt</code>.</p>
      <Check proof={proof.text ? (JSON.parse(proof.text) as ReceiptProof | null) : null} />
      <Json title="Proof of the receipt" offerDownload {...proof} />
    </>
  );
}

function Check({ proof }: { proof: ReceiptProof | null }) {
  const [result, setResult] = useState<{ flaw: string | null } | null>(null);
  const check = async () => {
    if (!proof) return;
    const flaw = await import('../../format/proof.ts').then(({ flawOf }) => flawOf(proof)).catch((failure: unknown) => String(failure));
    setResult({ flaw });
  };
  return (
    <section class="panel">
      <header><h2>Check</h2><button type="button" class="button small" disabled={!proof} onClick={() => void check()}>Check in this browser</button></header>
      <p class="quiet">The hash of the block is taken from this server too: compare it with a source that you trust.</p>
      {result && proof && <p role="status" class={result.flaw ? 'bad' : 'right'}>{result.flaw ? `It does not hold: ${result.flaw}.` : `It holds: the ${count(proof.proof.length)} node${proof.proof.length === 1 ? '' : 's'} of the trie lead from the header of block ${count(Number(proof.blockNumber))}, ${proof.blockHash}, to this receipt.`}</p>}
    </section>
  );
}
