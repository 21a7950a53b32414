// The value flow of a transaction, in order: coins moved by its calls, then tokens by its logs.
import type { ComponentChildren } from 'preact';
import type { AddressRef, Page, Token, TokenTransfer } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { count } from '../../format/amount.ts';
import { coinMoves, type Node } from '../../format/trace/tree.ts';
import { Address } from '../../parts/Address.tsx';
import { Coins, TransferAmount } from '../../parts/Amount.tsx';
import { Loading } from '../../parts/Answer.tsx';

/** The addresses and tokens that appear in calls, by lower-case hash. */
export interface AddressBook { addresses: Map<string, AddressRef>; tokens: Map<string, Token> }

/** The most lines of coins, and of tokens; the rest are in their own lists. */
const MAX_LINES = 20;

/** The flow above its children, which wait for it, so that the layout does not shift. */
export function ValueFlow({ hash, root, book, children }: { hash: string; root: Node; book: AddressBook; children: ComponentChildren }) {
  const answer = useApi<Page<TokenTransfer>>(`/api/v2/transactions/${hash}/token-transfers`);
  if (!answer.data && !answer.problem) return <Loading lines={30} />;
  const coins = coinMoves(root);
  const transfers = answer.data?.items ?? [];
  if (coins.length + transfers.length < 2) return <>{children}</>;
  const party = (address: string) => <Address of={book.addresses.get(address.toLowerCase()) ?? { hash: address }} />;
  return (
    <><section class="panel">
      <header><h2>Value flow</h2></header>
      <ol class="flow">
        {coins.slice(0, MAX_LINES).map((move, index) => <li key={`coins-${index}`}>{party(move.from)} <span class="quiet">→</span> {party(move.to)} <Coins wei={move.value} /></li>)}
        {coins.length > MAX_LINES && <li class="quiet">{count(coins.length - MAX_LINES)} more coin transfers in the calls below</li>}
        {transfers.slice(0, MAX_LINES).map((transfer, index) => <li key={`tokens-${index}`}><Address of={transfer.from} /> <span class="quiet">→</span> <Address of={transfer.to} /> <TransferAmount transfer={transfer} /></li>)}
        {(transfers.length > MAX_LINES || answer.data?.next_page_params) && <li><a href={`/tx/${hash}?tab=token_transfers`}>All token transfers</a></li>}
      </ol>
    </section>{children}</>
  );
}
