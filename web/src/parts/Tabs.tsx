// The tabs of a page, each with a URL of its own.
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** Space is reserved for a count that is loading, so that the layout does not shift. */
export interface Tab { id: string; name: string; count?: string | null; isLoading?: boolean }

/** The tab that the URL names; `aliases` are the names that other explorers use. */
export function chosenTab(tabs: Tab[], name: string | undefined, aliases: Record<string, string> = {}): string {
  const id = name ? (aliases[name] ?? name) : undefined;
  return tabs.find((tab) => tab.id === id)?.id ?? tabs[0]?.id ?? '';
}

/** Scrolls a row of links that is wider than the screen to the current one. */
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
          {tab.name}{tab.count ? <span class="count">{tab.count}</span> : tab.isLoading && <span class="count" aria-hidden="true">{'\u2007'}</span>}
        </a>
      ))}
    </nav>
  );
}
