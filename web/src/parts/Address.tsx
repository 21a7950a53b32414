// An address as a link: its private name, else its name, else its first and last digits; the whole address on hover.
import { shortHash, shortName } from '../format/hash.ts';
import { identicon } from '../format/identicon.ts';
import { commonName } from '../format/precompile.ts';
import { names } from '../state/names.ts';
import type { AddressRef } from '../api/types.ts';
import { delegateOf, isSharedName, nameOf } from '../state/address_names.ts';
import { Copy } from './Copy.tsx';
import { Unknown } from './Unknown.tsx';

interface Props {
  of: AddressRef | { hash: string } | null | undefined;
  /** Shows all digits. */
  whole?: boolean;
  copy?: boolean;
}

export function Address({ of, whole, copy }: Props) {
  if (!of) return <Unknown />;
  const details = 'name' in of ? of : null;
  const mine = names.value[of.hash.toLowerCase()];
  const name = mine ?? (details ? nameOf(details) : commonName(of.hash));
  const shown = name ? shortName(name, 32) : '';
  const isShared = name ? isSharedName(shown, of.hash) : false;
  const delegate = details ? delegateOf(details) : null;
  const isContract = details?.is_contract === true && !delegate;
  return (
    <span class="address">
      <Icon of={of.hash} />
      {isContract && <span class="kind" title="A contract" aria-label="contract">◆</span>}
      {delegate && <span class="kind" title={`An account, delegated to ${delegate.slice(0, 100)} (EIP-7702)`} aria-label="account with a delegate">◇</span>}
      <a href={`/address/${of.hash}`} data-address={of.hash.toLowerCase()} title={name ? `${name.slice(0, 200)}\n${of.hash}` : of.hash}>
        {name
          ? <bdi class={mine ? 'name mine' : 'name'}>{shown}</bdi>
          : <span class={whole ? 'hash whole' : 'hash'}>{whole ? of.hash : shortHash(of.hash)}</span>}
      </a>
      {isShared && !whole && <span class="hash quiet" title={`Another address has this name too\n${of.hash}`}>{shortHash(of.hash, 6, 4)}</span>}
      {name && whole && <span class="hash whole quiet">{of.hash}</span>}
      {copy && <Copy text={of.hash} what="address" />}
    </span>
  );
}

function Icon({ of }: { of: string }) {
  const { path, hue } = identicon(of);
  return <svg class="identicon" viewBox="0 0 5 5" width="13" height="13" aria-hidden="true"><path d={path} fill={`hsl(${hue} 55% 50%)`} /></svg>;
}

/** Highlights all occurrences of the address that is hovered or focused. */
export function highlightEqualAddresses(): void {
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
