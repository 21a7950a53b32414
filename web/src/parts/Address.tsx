// An address as a link: private name, else name, else its first and last digits; the checksummed whole on hover.
import { shortHash, shortName } from '../format/hash.ts';
import { names } from '../state/names.ts';
import type { AddressRef } from '../api/types.ts';
import { Copy } from './Copy.tsx';
import { Unknown } from './Unknown.tsx';

interface Props {
  of: AddressRef | { hash: string } | null | undefined;
  /** All digits, where there is room. */
  whole?: boolean;
  copy?: boolean;
}

export function Address({ of, whole, copy }: Props) {
  if (!of) return <Unknown />;
  const known = 'name' in of ? of : null;
  const mine = names.value[of.hash.toLowerCase()];
  const name = mine ?? known?.ens_domain_name ?? known?.name ?? known?.implementation_name;
  const isContract = known?.is_contract === true;
  return (
    <span class="address">
      {isContract && <span class="kind" title="A contract" aria-label="contract">◆</span>}
      <a href={`/address/${of.hash}`} data-address={of.hash.toLowerCase()} title={name ? `${name.slice(0, 200)}\n${of.hash}` : of.hash}>
        {name
          ? <bdi class={mine ? 'name mine' : 'name'}>{shortName(name, 32)}</bdi>
          : <span class={whole ? 'hash whole' : 'hash'}>{whole ? of.hash : shortHash(of.hash)}</span>}
      </a>
      {name && whole && <span class="hash whole quiet">{of.hash}</span>}
      {copy && <Copy text={of.hash} what="address" />}
    </span>
  );
}

/** Marks the same address wherever it stands on the page while the pointer or the keyboard is on one of them. */
export function markEqualAddresses(): void {
  const mark = (event: Event) => {
    const at = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-address]') : null;
    const address = at?.dataset['address'];
    for (const old of document.querySelectorAll('.same')) old.classList.remove('same');
    if (!address) return;
    for (const equal of document.querySelectorAll(`[data-address="${CSS.escape(address)}"]`)) equal.classList.add('same');
  };
  document.addEventListener('mouseover', mark);
  document.addEventListener('focusin', mark);
}
