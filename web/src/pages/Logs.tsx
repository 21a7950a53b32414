// Logs, decoded if the event is known, and raw.
import { useState } from 'preact/hooks';
import type { DecodedData, Log, Parameter, Token } from '../api/types.ts';
import { group } from '../format/amount.ts';
import { isAddress, visible } from '../format/hash.ts';
import { hasTokenAmounts } from '../format/tokens/amounts.ts';
import { plain } from '../format/trace/reason.ts';
import { Address } from '../parts/Address.tsx';
import { TokenName, Units } from '../parts/Amount.tsx';
import { Bytes, Height, TxHash } from '../parts/Hash.tsx';
import { Copy } from '../parts/Copy.tsx';
import { Time } from '../parts/Time.tsx';

/** `token` is the token that emitted the log, if it is known. */
export function LogCard({ log, showBlock, token }: { log: Log; showBlock?: boolean; token?: Token | null }) {
  const [raw, setRaw] = useState(log.decoded === null);
  return (
    <article class="card" data-row>
      <header class="row">
        <span class="count" title="Position in the block">{log.index}</span>
        <Address of={log.address} />
        {log.decoded && <strong class="method">{log.decoded.method_call.split('(')[0]}</strong>}
        {showBlock && <span class="row quiet"><Height of={log.block_number} /> <Time at={log.block_timestamp} /> <TxHash hash={log.transaction_hash} /></span>}
        <span class="grow" />
        {log.topics[0] && <a class="button small" href={`/scan?kind=logs&address=${log.address.hash}&topic0=${log.topics[0]}`} title="All logs of this event of the contract">All of this event</a>}
        {log.decoded && <button type="button" class="button small" title="Shows raw topics and data, or decoded ones" onClick={() => setRaw(!raw)}>{raw ? 'Decoded' : 'Raw'}</button>}
      </header>
      {log.decoded && !raw ? <Call of={log.decoded} token={token} /> : <Raw log={log} />}
    </article>
  );
}

function Raw({ log }: { log: Log }) {
  return (
    <dl class="values">
      {log.topics.map((topic, index) => <div key={index}><dt>topic {index}</dt><dd class="hash whole">{topic} <Copy text={topic} what="topic" /></dd></div>)}
      <div><dt>data</dt><dd><Bytes data={log.data} what="data" /></dd></div>
    </dl>
  );
}

/** A call or an event with its parameters. */
export function Call({ of, token }: { of: DecodedData; token?: Token | null | undefined }) {
  const amounts = token && hasTokenAmounts(token, of.method_id) ? token : null;
  return (
    <>
      <p class="signature"><code>{of.method_call}</code></p>
      {of.parameters.length > 0 && (
        <dl class="values">{of.parameters.map((parameter, index) => <div key={index}><dt title={parameter.type}>{parameter.name || `arg${index}`}</dt><dd><ParameterValue of={parameter} token={amounts} /></dd></div>)}</dl>
      )}
    </>
  );
}

function ParameterValue({ of, token }: { of: Parameter; token: Token | null }) {
  const { value, type } = of;
  if (type === 'address' && typeof value === 'string' && isAddress(value)) return <Address of={{ hash: value }} whole copy />;
  if (/^u?int\d*$/.test(type) && typeof value === 'string') return <NumberValue value={value} token={token} />;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (typeof value === 'string' && value.startsWith('0x') && value.length > 66) return <Bytes data={value} what={of.name} />;
  const shown = visible(typeof value === 'string' ? value : plain(value));
  return <span class="value">{shown.length > 2000 ? `${shown.slice(0, 2000)}…` : shown} <Copy text={text} what="value" /></span>;
}

/** A whole number in digit groups, or as an amount of a token. */
function NumberValue({ value, token }: { value: string; token: Token | null }) {
  if (token && token.decimals !== null) return <span class="value"><Units value={value} decimals={token.decimals} whole /> <TokenName token={token} /></span>;
  return <span class="value">{group(value)} <Copy text={value} what="value" /></span>;
}
