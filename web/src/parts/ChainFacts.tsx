// Values of transactions and blocks that a chain has beyond Ethereum, by the names of the API.
import type { ChainCall, ChainFact } from '../api/types.ts';
import { count } from '../format/amount.ts';
import { Address } from './Address.tsx';
import { Coins, Gwei } from './Amount.tsx';
import { Fact } from './Facts.tsx';
import { Bytes, Plain } from './Hash.tsx';

function Value({ of }: { of: ChainFact }) {
  if (of.unit === 'wei') return <Coins wei={of.value} whole />;
  if (of.unit === 'wei_per_gas') return <Gwei wei={of.value} whole />;
  if (of.unit === 'address') return <Address of={{ hash: of.value }} whole copy />;
  if (of.unit === 'hash') return <Plain hash={of.value} what={of.name} />;
  return <span>{/^\d+$/.test(of.value) ? count(of.value) : of.value}</span>;
}

export function ChainFacts({ of }: { of: ChainFact[] | undefined }) {
  return <>{(of ?? []).map((fact) => <Fact key={fact.name} name={fact.name}><Value of={fact} /></Fact>)}</>;
}

/** The terms of a sum, each with its name. */
export function Parts({ of }: { of: ChainFact[] }) {
  return <div class="row">{of.map((part, index) => <span key={part.name} class="row">{index > 0 && <span class="quiet">+</span>}<Value of={part} /> <span class="quiet">{part.name}</span></span>)}</div>;
}

/** The calls of a transaction that has several. */
export function ChainCalls({ of, all }: { of: ChainCall[]; all: number }) {
  return (
    <section class="panel">
      <header><h2>{all === 1 ? 'Its call' : `Its ${count(all)} calls`}</h2></header>
      {of.map((call, index) => (
        <div key={index}>
          <p class="row"><span class="quiet">{index + 1}</span> {call.to ? <Address of={{ hash: call.to }} whole copy /> : <span>new contract</span>} {call.value !== '0' && <Coins wei={call.value} />}</p>
          <Bytes data={call.input} what="input" />
        </div>
      ))}
      {of.length < all && <p class="quiet">The first {of.length} of them.</p>}
    </section>
  );
}
