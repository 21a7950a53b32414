// The metadata of an id, by a call of its contract on loaded state.
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/request.ts';
import { visible, shortName } from '../../format/hash.ts';
import { metadataOf, pictureOf } from '../../format/tokens/nft.ts';
import { Copy } from '../../parts/Copy.tsx';
import { Fact, Facts } from '../../parts/Facts.tsx';

/** By standard the function that has the URI. */
const FUNCTIONS: Record<string, string> = { 'ERC-721': 'tokenURI', 'ERC-1155': 'uri' };
const MOST = 2000;
const MOST_TRAITS = 50;

async function uriOf(token: string, type: string, id: string): Promise<string> {
  const { encode, decode } = await import('../contract/viem.ts');
  const entry = { type: 'function', name: FUNCTIONS[type] ?? 'tokenURI', stateMutability: 'view', inputs: [{ name: 'id', type: 'uint256' }], outputs: [{ type: 'string' }] };
  const result = await call<`0x${string}`>('eth_call', [{ to: token, data: encode(entry, [BigInt(id)]) }, 'latest']);
  // Clients put the id in place of the braces, as ERC-1155 has it.
  return String(decode(entry, result)).replaceAll('{id}', BigInt(id).toString(16).padStart(64, '0'));
}

export function Metadata({ token, type, id }: { token: string; type: string; id: string }) {
  const [answer, setAnswer] = useState<{ uri?: string; problem?: string }>({});
  useEffect(() => {
    let left = false;
    uriOf(token, type, id).then((uri) => { if (!left) setAnswer({ uri }); }, (failure: Error) => { if (!left) setAnswer({ problem: failure.message.split('\n')[0] }); });
    return () => { left = true; };
  }, [token, type, id]);
  const { uri, problem } = answer;
  const metadata = uri === undefined ? null : metadataOf(uri);
  const picture = pictureOf(metadata?.image ?? null);
  return (
    <section class="panel">
      <header><h2>Metadata</h2></header>
      {problem !== undefined ? <p class="quiet">Not known here: {visible(problem).slice(0, 300)}</p> : uri === undefined ? <p class="quiet">…</p> : (
        <div class="metadata">
          {picture && <img src={picture} alt={metadata?.name ? shortName(metadata.name, 80) : 'Picture that the metadata holds'} width="220" />}
          <Facts>
            {metadata?.name && <Fact name="Name"><bdi>{shortName(metadata.name, 200)}</bdi></Fact>}
            {metadata?.description && <Fact name="Description"><bdi class="value">{visible(metadata.description).slice(0, MOST)}</bdi></Fact>}
            {metadata?.traits.slice(0, MOST_TRAITS).map(([name, value], index) => <Fact key={index} name={shortName(name, 40) || 'trait'}><bdi>{shortName(value, 200)}</bdi></Fact>)}
            <Fact name="URI" hint="Nothing is fetched from it"><span class="value">{visible(uri).slice(0, MOST)}{uri.length > MOST && '…'} <Copy text={uri} what="URI" /></span></Fact>
          </Facts>
        </div>
      )}
    </section>
  );
}
