// The metadata of an NFT, by a call of its contract on loaded state.
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/request.ts';
import { visible, shortName } from '../../format/hash.ts';
import { metadataOf, pictureOf } from '../../format/tokens/nft.ts';
import { Copy } from '../../parts/Copy.tsx';
import { Fact, Facts } from '../../parts/Facts.tsx';

/** The function that returns the URI, by standard. */
const FUNCTIONS: Record<string, string> = { 'ERC-721': 'tokenURI', 'ERC-1155': 'uri' };
const MAX_LENGTH = 2000;
const MAX_TRAITS = 50;

async function uriOf(token: string, type: string, id: string): Promise<string> {
  const { encode, decode } = await import('../contract/viem.ts');
  const entry = { type: 'function', name: FUNCTIONS[type] ?? 'tokenURI', stateMutability: 'view', inputs: [{ name: 'id', type: 'uint256' }], outputs: [{ type: 'string' }] };
  const result = await call<`0x${string}`>('eth_call', [{ to: token, data: encode(entry, [BigInt(id)]) }, 'latest']);
  // By ERC-1155 clients replace the placeholder by the id.
  return String(decode(entry, result)).replaceAll('{id}', BigInt(id).toString(16).padStart(64, '0'));
}

export function Metadata({ token, type, id }: { token: string; type: string; id: string }) {
  const [answer, setAnswer] = useState<{ uri?: string; problem?: string }>({});
  useEffect(() => {
    let isCancelled = false;
    uriOf(token, type, id).then((uri) => { if (!isCancelled) setAnswer({ uri }); }, (failure: Error) => { if (!isCancelled) setAnswer({ problem: failure.message.split('\n')[0] }); });
    return () => { isCancelled = true; };
  }, [token, type, id]);
  const { uri, problem } = answer;
  const metadata = uri === undefined ? null : metadataOf(uri);
  const picture = pictureOf(metadata?.image ?? null);
  return (
    <section class="panel">
      <header><h2>Metadata</h2></header>
      {problem !== undefined ? <p class="quiet">Not known here: {visible(problem).slice(0, 300)}</p> : uri === undefined ? <p class="quiet">…</p> : (
        <div class="metadata">
          {picture && <img src={picture} alt={metadata?.name ? shortName(metadata.name, 80) : 'Image from the metadata'} width="220" />}
          <Facts>
            {metadata?.name && <Fact name="Name"><bdi>{shortName(metadata.name, 200)}</bdi></Fact>}
            {metadata?.description && <Fact name="Description"><bdi class="value">{visible(metadata.description).slice(0, MAX_LENGTH)}</bdi></Fact>}
            {metadata?.traits.slice(0, MAX_TRAITS).map(([name, value], index) => <Fact key={index} name={shortName(name, 40) || 'trait'}><bdi>{shortName(value, 200)}</bdi></Fact>)}
            <Fact name="URI" hint="It is not fetched"><span class="value">{visible(uri).slice(0, MAX_LENGTH)}{uri.length > MAX_LENGTH && '…'} <Copy text={uri} what="URI" /></span></Fact>
          </Facts>
        </div>
      )}
    </section>
  );
}
