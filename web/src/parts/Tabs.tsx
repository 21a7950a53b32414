// Parts of a page, each with an address of its own.
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** A count that is awaited has room, so that nothing moves when it comes. */
export interface Tab { id: string; name: string; count?: string | null; isAwaited?: boolean }

/** The part that the address names; names of other explorers count too. */
export function chosenTab(tabs: Tab[], named: string | undefined, also: Record<string, string> = {}): string {
  const wanted = named ? (also[named] ?? named) : undefined;
  return tabs.find((tab) => tab.id === wanted)?.id ?? tabs[0]?.id ?? '';
}

/** Scrolls a row of links, where it is longer than the screen is wide, to the one that is chosen. */
export function showChosen(row: HTMLElement | null): void {
  const link = row?.querySelector<HTMLElement>('[aria-current]');
  if (row && link && row.scrollWidth > row.clientWidth) row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
}

export function Tabs({ tabs, chosen, base }: { tabs: Tab[]; chosen: string; base: string }) {
  const { path } = useLocation();
  const row = useRef<HTMLElement>(null);
  useEffect(() => showChosen(row.current), [chosen, tabs.length]);
  return (
    <nav ref={row} class="tabs" aria-label="Parts of this page" data-path={path}>
      {tabs.map((tab, index) => (
        <a key={tab.id} href={index === 0 ? base : `${base}?tab=${tab.id}`} aria-current={tab.id === chosen ? 'page' : undefined}>
          {tab.name}{tab.count ? <span class="count">{tab.count}</span> : tab.isAwaited && <span class="count" aria-hidden="true">{'\u2007'}</span>}
        </a>
      ))}
    </nav>
  );
}
