// The proof that a receipt belongs to its block, for who trusts nothing else here.
import { Json, useCall } from './Raw.tsx';

export function Proof({ hash }: { hash: string }) {
  const proof = useCall('trawl_getReceiptProof', [hash]);
  return (
    <>
      <p>Whoever knows the hash of the block can check the receipt of this transaction, and with it its logs, without trusting this server:
        the hash of <code>header</code> is that of the block, its sixth item is the root of the receipt trie, and <code>proof</code> leads from there along <code>key</code> to <code>receipt</code>.</p>
      <Json title="Proof of the receipt" {...proof} />
    </>
  );
}
