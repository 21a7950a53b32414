// What moved in a transaction, in order: coins with its calls, then tokens by its logs.
import type { AddressRef, Page, Token, TokenTransfer } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { count } from '../../format/amount.ts';
import { coinMoves, type Node } from '../../format/trace/tree.ts';
import { Address } from '../../parts/Address.tsx';
import { Coins, TransferAmount } from '../../parts/Amount.tsx';
import { Loading } from '../../parts/Answer.tsx';

/** What is known of the addresses in calls, by their lower-case digits. */
export interface Known { addresses: Map<string, AddressRef>; tokens: Map<string, Token> }

/** Lines of each kind; the rest are in lists of their own. */
const MOST = 20;

export function ValueFlow({ hash, root, known }: { hash: string; root: Node; known: Known }) {
  const answer = useApi<Page<TokenTransfer>>(`/api/v2/transactions/${hash}/token-transfers`);
  if (!answer.data && !answer.problem) return <Loading lines={4} />;
  const coins = coinMoves(root);
  const transfers = answer.data?.items ?? [];
  if (coins.length + transfers.length < 2) return null;
  const party = (address: string) => <Address of={known.addresses.get(address.toLowerCase()) ?? { hash: address }} />;
  return (
    <section class="panel">
      <header><h2>Value flow</h2></header>
      <ol class="flow">
        {coins.slice(0, MOST).map((move, index) => <li key={`coins-${index}`}>{party(move.from)} <span class="quiet">→</span> {party(move.to)} <Coins wei={move.value} /></li>)}
        {coins.length > MOST && <li class="quiet">{count(coins.length - MOST)} more moves of coins: in the calls below</li>}
        {transfers.slice(0, MOST).map((transfer, index) => <li key={`tokens-${index}`}><Address of={transfer.from} /> <span class="quiet">→</span> <Address of={transfer.to} /> <TransferAmount transfer={transfer} /></li>)}
        {(transfers.length > MOST || answer.data?.next_page_params) && <li><a href={`/tx/${hash}?tab=token_transfers`}>All token transfers</a></li>}
      </ol>
    </section>
  );
}
