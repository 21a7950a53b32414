// The activity of any contract over its whole life.
import { useLocation } from 'preact-iso';
import { isAddress } from '../format/hash.ts';
import { withQuery } from '../parts/list/query.ts';
import { Life, useLife } from './Life.tsx';

export function ContractLife({ period }: { period: string }) {
  const { path, query, route } = useLocation();
  const contract = query['contract'] ?? '';
  const life = useLife(isAddress(contract) ? contract : null, period);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget as HTMLFormElement).get('contract');
    route(withQuery(path, query, { contract: String(typed ?? '').trim() }));
  };
  return (
    <section>
      <h2>A contract over its whole life</h2>
      <form class="tools" onSubmit={submit}>
        <input key={contract} name="contract" value={contract} placeholder="0x… address of a contract" aria-label="Address of a contract" size={46} pattern="0x[0-9a-fA-F]{40}" title="0x and 40 digits" />
        <button type="submit" class="button">Show activity</button>
        {isAddress(contract) && <a class="button small" href={`/scan?kind=logs&address=${contract}`}>Open as scan</a>}
      </form>
      {isAddress(contract) && <Life of={life} contract={contract} period={period} />}
    </section>
  );
}
