// The frame of every page: header with navigation and search, and footer.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { PrivateNamesFile } from './parts/PrivateNamesFile.tsx';
import { PulseDot, PulseLine } from './parts/Pulse.tsx';
import { SearchBox } from './parts/SearchBox.tsx';
import { base, chains, hasSql, otherChainPath } from './start/base.ts';
import { showChosen } from './parts/Tabs.tsx';
import { nextTheme, nextTimeStyle, theme, timeStyle } from './state/view.ts';
import { chain } from './state/chain.ts';

const SECTIONS = [['/blocks', 'Blocks'], ['/txs', 'Transactions'], ['/internal-txs', 'Internal'], ['/token-transfers', 'Transfers'], ['/withdrawals', 'Withdrawals'], ['/accounts', 'Accounts'], ['/tokens', 'Tokens'], ['/scan', 'Scan'], ['/charts', 'Charts'], ['/gas', 'Gas'], ['/tools', 'Tools'], ['/status', 'Status']] as const;

function handleShortcut(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest('input, textarea, select')) return;
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector<HTMLInputElement>('[data-search]')?.focus();
  } else if (event.key === 't') nextTheme();
  else if (event.key === 'u') nextTimeStyle();
  else if (event.key === '?') void import('./pages/Keys.tsx').then((part) => part.toggleKeys(), () => {});
}

const THEME = { system: ['◐', 'system'], light: ['☀', 'light'], dark: ['☾', 'dark'] } as const;

export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  useEffect(() => {
    document.addEventListener('keydown', handleShortcut);
    return () => document.removeEventListener('keydown', handleShortcut);
  }, []);
  // Keyboard focus starts at the top of a new page. It is set before the page is painted, so that it does not undo
  // a later key.
  const lastPath = useRef(path);
  useLayoutEffect(() => {
    if (lastPath.current !== path) document.getElementById('content')?.focus({ preventScroll: true });
    lastPath.current = path;
  }, [path]);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => showChosen(nav.current), [path]);
  const [mark, word] = THEME[theme.value];
  return (
    <>
      <a class="skip" href="#content">Skip to content</a>
      <header class="top">
        <div class="inside">
          <a class="home" href="/" title="Newest blocks and transactions"><Mark /> Trawl{' '}<small>{chain.value.name}</small></a>
          <PulseDot />
          {chains.length > 1 && <ChainSwitch path={path} />}
          <nav ref={nav} aria-label="Pages">
            {[...SECTIONS, ...(hasSql ? [['/sql', 'SQL'] as const] : [])].map(([to, name]) => <a key={to} href={to} aria-current={path === to ? 'page' : undefined}>{name}</a>)}
            <a href="/docs">API</a>
          </nav>
          <div class="end">
            <SearchBox />
            <button type="button" class="icon" onClick={nextTheme} title={`Theme: ${word}. Click to change it`} aria-label={`Theme: ${word}`}>{mark}</button>
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1}>{children}</main>
      <PulseLine />
      <footer>
        <div class="inside">
          <PrivateNamesFile />
          <button type="button" class="plain" onClick={nextTimeStyle}>{{ age: 'Show times in UTC', utc: 'Show local times', local: 'Show ages' }[timeStyle.value]}</button>
          <span class="keys"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> rows <kbd>t</kbd> theme <kbd>u</kbd> times <kbd>?</kbd> keys</span>
          <span>{chain.value.name && `${chain.value.name}, `}read-only, from ClickHouse</span>
        </div>
      </footer>
    </>
  );
}

/** A choice of the chains of the server; the page of another chain is loaded as a new document. */
function ChainSwitch({ path }: { path: string }) {
  const choose = (event: Event) => location.assign(otherChainPath((event.currentTarget as HTMLSelectElement).value, path));
  return <select class="chains" aria-label="Chain" onChange={choose}>{chains.map((name) => <option key={name} value={name} selected={base === `/${name}`}>{name}</option>)}</select>;
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="7" class="markground" />
      <path d="M4 9q6 5 12 0t12 0M6 15q5 4 10 0t10 0M9 21q3.500 3 7 0t7 0M13 26.500q1.500 1.500 3 0t3 0" class="markline" />
    </svg>
  );
}
