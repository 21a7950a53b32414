// The entry point: the frame, the routes, and what all pages have in common.
import { BasePath } from './parts/base_path.tsx';
import { withRetry } from './api/retry.ts';
import { render } from 'preact';
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { canonicalPath } from './format/aliases.ts';
import { Frame } from './Frame.tsx';
import { highlightEqualAddresses } from './parts/Address.tsx';
import { enableRowKeys } from './parts/list/Table.tsx';
import { Home } from './pages/Home.tsx';
import { Blocks, InternalTransactions, TokenTransfers, Transactions, Withdrawals } from './pages/Lists.tsx';
import { loadChain } from './state/chain.ts';
import { watchPulse } from './state/pulse.ts';
import { useTitle } from './parts/title.ts';
import { base, chainPath } from './start/base.ts';
import { partFiles } from './start/requests.ts';

// Pages that are loaded on demand; `vite.config.js` lists them too, so that the start script can preload them.
const Accounts = lazy(withRetry(() => import('./pages/Accounts.tsx').then((page) => page.Accounts)));
const Block = lazy(withRetry(() => import('./pages/Block.tsx').then((page) => page.Block)));
const Tx = lazy(withRetry(() => import('./pages/Tx.tsx').then((page) => page.Tx)));
const Address = lazy(withRetry(() => import('./pages/Address.tsx').then((page) => page.Address)));
const Token = lazy(withRetry(() => import('./pages/Token.tsx').then((page) => page.Token)));
const Instance = lazy(withRetry(() => import('./pages/Token.tsx').then((page) => page.Instance)));
const Tokens = lazy(withRetry(() => import('./pages/Tokens.tsx').then((page) => page.Tokens)));
const Search = lazy(withRetry(() => import('./pages/Search.tsx').then((page) => page.Search)));
const Scan = lazy(withRetry(() => import('./scan/Scan.tsx').then((page) => page.Scan)));
const Charts = lazy(withRetry(() => import('./charts/Charts.tsx').then((page) => page.Charts)));
const Sql = lazy(withRetry(() => import('./sql/Sql.tsx').then((page) => page.Sql)));
const Gas = lazy(withRetry(() => import('./pages/Gas.tsx').then((page) => page.Gas)));
const Tools = lazy(withRetry(() => import('./pages/Tools.tsx').then((page) => page.Tools)));
const Operation = lazy(withRetry(() => import('./pages/Operations.tsx').then((page) => page.Operation)));
const Operations = lazy(withRetry(() => import('./pages/Operations.tsx').then((page) => page.Operations)));
const Names = lazy(withRetry(() => import('./pages/Names.tsx').then((page) => page.Names)));
const Status = lazy(withRetry(() => import('./pages/Status.tsx').then((page) => page.Status)));

function NotFound() {
  const { path } = useLocation();
  useTitle('Page not found');
  return <><h1>Page not found</h1><p>There is no page at <code>{path.slice(0, 200)}</code>.</p><p><a href="/">To the newest blocks</a></p></>;
}

/** Marks the content as busy while the script of the next page is loaded. */
function setBusy(isBusy: boolean): void {
  document.getElementById('content')?.setAttribute('aria-busy', String(isBusy));
}

/** Links that the router handles; the others are answered by the server. */
const PAGE_LINKS = new RegExp(`^${base}/(?!(docs|api|rpc|health|metrics|stats-service)(/|\\?|$))`);

/** Redirects the paths of other explorers to those of this page. */
function CanonicalRedirect() {
  const { url, route } = useLocation();
  useEffect(() => {
    const canonical = canonicalPath(chainPath(location.pathname), location.search, location.hash);
    if (canonical) route(canonical, true);
  }, [url]);
  return null;
}

function App() {
  return (
    <LocationProvider scope={PAGE_LINKS}>
      <BasePath><Frame>
        <CanonicalRedirect />
        <ErrorBoundary>
          <Router onLoadStart={() => setBusy(true)} onLoadEnd={() => setBusy(false)}>
            <Route path="/" component={Home} />
            <Route path="/blocks" component={Blocks} />
            <Route path="/block/:id/:tab?" component={Block} />
            <Route path="/txs" component={Transactions} />
            <Route path="/internal-txs" component={InternalTransactions} />
            <Route path="/token-transfers" component={TokenTransfers} />
            <Route path="/withdrawals" component={Withdrawals} />
            <Route path="/tx/:hash/:tab?" component={Tx} />
            <Route path="/accounts" component={Accounts} />
            <Route path="/address/:hash/:tab?" component={Address} />
            <Route path="/tokens" component={Tokens} />
            <Route path="/token/:hash/instance/:id" component={Instance} />
            <Route path="/token/:hash/:tab?" component={Token} />
            <Route path="/search" component={Search} />
            <Route path="/scan" component={Scan} />
            <Route path="/charts" component={Charts} />
            <Route path="/sql" component={Sql} />
            <Route path="/status" component={Status} />
            <Route path="/gas" component={Gas} />
            <Route path="/tools" component={Tools} />
            <Route path="/ops" component={Operations} />
            <Route path="/op/:hash" component={Operation} />
            <Route path="/names" component={Names} />
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      </Frame></BasePath>
    </LocationProvider>
  );
}

highlightEqualAddresses();
enableRowKeys();
void loadChain();
watchPulse();
// The pages that most links lead to are loaded ahead.
addEventListener('load', () => setTimeout(() => {
  const script = document.querySelector<HTMLScriptElement>('script[data-parts]');
  const files = ['/block/', '/tx/', '/address/'].flatMap((page) => partFiles(page, script?.dataset['parts'] ?? ''));
  // Into the cache only: a script whose import fails now could not be imported later.
  for (const file of new Set(files)) fetch(new URL(file, script?.src)).catch(() => {});
}, 1000));
render(<App />, document.getElementById('app') as HTMLElement);
