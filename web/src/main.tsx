// The page: its frame, its routes, and what holds on all of them.
import { render } from 'preact';
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { Frame } from './Frame.tsx';
import { markEqualAddresses } from './parts/Address.tsx';
import { rowsByKeyboard } from './parts/Table.tsx';
import { Home } from './pages/Home.tsx';
import { Blocks, InternalTransactions, TokenTransfers, Transactions } from './pages/Lists.tsx';
import { learnChain } from './state/chain.ts';
import { watchPulse } from './state/pulse.ts';
import { useTitle } from './parts/title.ts';

// Pages that come when they are wanted; `vite.config.js` has them too, so that the start script asks for them at once.
const Accounts = lazy(() => import('./pages/Accounts.tsx').then((page) => page.Accounts));
const Block = lazy(() => import('./pages/Block.tsx').then((page) => page.Block));
const Tx = lazy(() => import('./pages/Tx.tsx').then((page) => page.Tx));
const Address = lazy(() => import('./pages/Address.tsx').then((page) => page.Address));
const Token = lazy(() => import('./pages/Token.tsx').then((page) => page.Token));
const Instance = lazy(() => import('./pages/Token.tsx').then((page) => page.Instance));
const Tokens = lazy(() => import('./pages/Tokens.tsx').then((page) => page.Tokens));
const Search = lazy(() => import('./pages/Search.tsx').then((page) => page.Search));
const Scan = lazy(() => import('./scan/Scan.tsx').then((page) => page.Scan));
const Charts = lazy(() => import('./charts/Charts.tsx').then((page) => page.Charts));
const Status = lazy(() => import('./pages/Status.tsx').then((page) => page.Status));

function Nowhere() {
  const { path } = useLocation();
  useTitle('No such page');
  return <><h1>No such page</h1><p>Nothing is at <code>{path.slice(0, 200)}</code>. <a href="/">To the newest blocks</a></p></>;
}

/** The server answers these; the page leaves them alone. */
const PAGE_LINKS = /^\/(?!(docs|api|rpc|health|metrics|stats-service)(\/|\?|$))/;

function App() {
  return (
    <LocationProvider scope={PAGE_LINKS}>
      <Frame>
        <ErrorBoundary>
          <Router>
            <Route path="/" component={Home} />
            <Route path="/blocks" component={Blocks} />
            <Route path="/block/:id/:tab?" component={Block} />
            <Route path="/txs" component={Transactions} />
            <Route path="/internal-txs" component={InternalTransactions} />
            <Route path="/token-transfers" component={TokenTransfers} />
            <Route path="/tx/:hash/:tab?" component={Tx} />
            <Route path="/accounts" component={Accounts} />
            <Route path="/address/:hash/:tab?" component={Address} />
            <Route path="/tokens" component={Tokens} />
            <Route path="/token/:hash/instance/:id" component={Instance} />
            <Route path="/token/:hash/:tab?" component={Token} />
            <Route path="/search" component={Search} />
            <Route path="/scan" component={Scan} />
            <Route path="/charts" component={Charts} />
            <Route path="/status" component={Status} />
            <Route default component={Nowhere} />
          </Router>
        </ErrorBoundary>
      </Frame>
    </LocationProvider>
  );
}

markEqualAddresses();
rowsByKeyboard();
void learnChain();
watchPulse();
// Where most links lead is there before the first of them is followed.
addEventListener('load', () => setTimeout(() => { for (const page of [Block, Tx, Address]) void page.preload(); }, 1000));
render(<App />, document.getElementById('app') as HTMLElement);
