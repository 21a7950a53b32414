// The form of a filter. Inputs are checked where that is possible without the API.
import { useCallback, useState } from 'preact/hooks';
import { useApi } from '../api/use_api.ts';
import { getJson } from '../api/request.ts';
import { blockAt } from '../api/block_times.ts';
import { count, withGroups } from '../format/amount.ts';
import { isAddress, isHash, visible } from '../format/hash.ts';
import { ADDRESS_FIELDS, FIELDS, type Filter, type Kind, KINDS, topicOf, withAddresses } from './filter.ts';
import { names } from '../state/names.ts';
import type { AbiEntry } from '../format/abi.ts';
import { eventOf } from './abi.ts';

interface Props { filter: Filter; change: (filter: Filter) => void; start: () => void }

const COMMON_EVENTS = [
  'Transfer(address indexed from, address indexed to, uint256 value)',
  'Approval(address indexed owner, address indexed spender, uint256 value)',
  'Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  'Deposit(address indexed dst, uint256 wad)',
  'Withdrawal(address indexed src, uint256 wad)',
  'OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
];

const LABELS: Record<string, [string, string]> = {
  address: ['Address', '0x…, several with commas'],
  event: ['Event', 'Transfer(address indexed from, …)'],
  topic0: ['Topic 0', 'hash of the event'],
  topic1: ['Topic 1', '0x… word, or an address'],
  topic2: ['Topic 2', '0x… word, or an address'],
  topic3: ['Topic 3', '0x… word, or an address'],
  fromAddress: ['From', 'sender or caller'],
  toAddress: ['To', 'recipient or called contract'],
  token: ['Token', 'contract of the token'],
  type: ['Standard', 'ERC-20, ERC-721, ERC-1155'],
};

/** The input of a topic as words of 32 bytes: addresses and decimal numbers are padded. */
export function wordOf(text: string): string {
  return text.split(',').map((part) => {
    const one = part.trim();
    if (isAddress(one)) return `0x${one.slice(2).toLowerCase().padStart(64, '0')}`;
    if (/^\d+$/.test(one)) return `0x${BigInt(one).toString(16).padStart(64, '0')}`;
    return one;
  }).join(',');
}

/** Why the value of a field is invalid; empty if it is valid. */
function errorOf(name: keyof Filter, text: string): string {
  const values = text.split(',').map((one) => one.trim()).filter(Boolean);
  if (ADDRESS_FIELDS.includes(name)) return values.every(isAddress) ? '' : 'An address is 0x and 40 digits, or one of your names';
  if (name.startsWith('topic')) return values.every(isHash) ? '' : 'A topic is 0x and 64 digits';
  if (name === 'event') return !text.trim() || topicOf(text) ? '' : 'An event is written as Name(type name, …)';
  return '';
}

export function FilterForm({ filter, change, start }: Props) {
  const set = (name: keyof Filter, value: string) => change({ ...filter, [name]: value });
  // Days whose block is not known yet; the scan cannot start before.
  const [pendingDays, setPendingDays] = useState<Record<string, boolean>>({});
  const setPending = useCallback((side: string, isPending: boolean) => setPendingDays((before) => (before[side] === isPending ? before : { ...before, [side]: isPending })), []);
  const isInvalid = Object.values(pendingDays).some(Boolean) || FIELDS[filter.kind].some((name) => errorOf(name, filter[name]) !== '');
  return (
    <form class="filter" onSubmit={(event) => { event.preventDefault(); if (!isInvalid) start(); }}>
      <label><span>Rows</span>
        <select value={filter.kind} onChange={(event) => change({ ...filter, kind: event.currentTarget.value as Kind })}>
          {Object.entries(KINDS).map(([kind, name]) => <option key={kind} value={kind}>{name}</option>)}
        </select>
      </label>
      {FIELDS[filter.kind].map((name) => <Field key={name} name={name} filter={filter} set={set} />)}
      <BlockField label="From block" value={filter.fromBlock} day={filter.fromDay} set={(fromBlock, fromDay) => change({ ...filter, fromBlock, fromDay })} side="after" setPending={setPending} placeholder="0" />
      <BlockField label="To block" value={filter.toBlock} day={filter.toDay} set={(toBlock, toDay) => change({ ...filter, toBlock, toDay })} side="before" setPending={setPending} placeholder="the newest" />
      <label><span>Row limit</span><input value={filter.limit} onInput={(event) => set('limit', event.currentTarget.value.replace(/\D/g, ''))} placeholder="all rows" inputMode="numeric" /></label>
      <datalist id="private-names">{Object.entries(names.value).map(([hash, name]) => <option key={hash} value={hash}>{visible(name)}</option>)}</datalist>
      <div class="row"><button type="submit" class="button main" disabled={isInvalid}>Run the scan</button></div>
    </form>
  );
}

function Field({ name, filter, set }: { name: keyof Filter; filter: Filter; set: (name: keyof Filter, value: string) => void }) {
  const [label, hint] = LABELS[name] ?? [name, ''];
  const value = filter[name];
  const error = errorOf(name, value);
  const events = useEvents(name === 'event' ? filter.address : '');
  const topic = name === 'event' ? topicOf(value) : null;
  const isOfAddresses = ADDRESS_FIELDS.includes(name);
  const complete = () => {
    if (name.startsWith('topic')) set(name, wordOf(value));
    else if (isOfAddresses) set(name, withAddresses(value, names.value));
  };
  return (
    <label><span>{label}</span>
      <input value={value} onInput={(event) => set(name, event.currentTarget.value)} onChange={complete} placeholder={hint} spellcheck={false} autocomplete="off"
        aria-invalid={error ? 'true' : undefined} list={name === 'event' ? 'events' : isOfAddresses ? 'private-names' : undefined} />
      {error && <small class="bad">{error}</small>}
      {topic && <small class="quiet hash whole">topic 0: {topic}</small>}
      {name === 'event' && <datalist id="events">{[...events, ...COMMON_EVENTS].map((event) => <option key={event} value={event} />)}</datalist>}
    </label>
  );
}

interface ContractAbi { abi: AbiEntry[] | null }

/** The events of a contract, if its ABI is loaded. */
function useEvents(address: string): string[] {
  const { data } = useApi<ContractAbi>(isAddress(address.trim()) ? `/api/v2/smart-contracts/${address.trim()}` : null);
  return (data?.abi ?? []).filter((entry) => entry.type === 'event').map((entry) => visible(eventOf(entry)));
}

interface BlockFieldProps {
  label: string; value: string; day: string; side: 'before' | 'after'; placeholder: string;
  set: (value: string, day: string) => void; setPending: (side: string, isPending: boolean) => void;
}

/** A field for a height, or for a day, whose block the API finds; if that day is not loaded, the nearest loaded block is offered. */
function BlockField({ label, value, day, set, side, setPending, placeholder }: BlockFieldProps) {
  const [message, setMessage] = useState('');
  const [nearest, setNearest] = useState<number | null>(null);
  const [wanted, setWanted] = useState('');
  const settle = (height: string, ofDay: string) => {
    setMessage('');
    setWanted('');
    setNearest(null);
    setPending(side, false);
    set(height, ofDay);
  };
  const findBlock = async (text: string) => {
    if (!text) return settle(value, '');
    setMessage('');
    setWanted(text);
    setPending(side, true);
    const seconds = Date.parse(`${text}T${side === 'after' ? '00:00:00' : '23:59:59'}Z`) / 1000;
    try {
      const answer = await getJson<{ status: string; message: string; result: { blockNumber?: string } | string }>(`/api?module=block&action=getblocknobytime&timestamp=${seconds}&closest=${side}`);
      const height = typeof answer.result === 'string' ? answer.result : answer.result?.blockNumber;
      if (answer.status === '1' && height !== undefined && /^\d+$/.test(height)) return settle(height, text);
      setMessage(`No block found for that day: ${withGroups(answer.message)}.`);
      setNearest(await blockAt(seconds, side === 'after' ? ['after', 'before'] : ['before', 'after']));
    } catch (failure) {
      setMessage(`No block found for that day: ${failure instanceof Error ? failure.message : 'no answer'}.`);
    }
    return undefined;
  };
  return (
    <label><span>{label}</span>
      <span class="pair">
        <input value={value} onInput={(event) => settle(event.currentTarget.value, '')} placeholder={placeholder} inputMode="numeric" />
        <input type="date" value={wanted || day} aria-label={`${label}, by its day in UTC`} onChange={(event) => void findBlock(event.currentTarget.value)} />
      </span>
      {message && <small class="bad">{message} The scan cannot run until the day has a block, or is cleared. <button type="button" class="button small" onClick={() => settle(value, '')}>Clear</button>
        {nearest !== null && <> <button type="button" class="button small" onClick={() => settle(String(nearest), '')}>Nearest loaded block: {count(nearest)}</button></>}</small>}
    </label>
  );
}
