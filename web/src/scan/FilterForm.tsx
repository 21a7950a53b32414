// The form of a filter. What is typed is checked where that can be done without the API.
import { useCallback, useState } from 'preact/hooks';
import { useApi } from '../api/use_api.ts';
import { getJson } from '../api/request.ts';
import { isAddress, isHash, visible } from '../format/hash.ts';
import { FIELDS, type Filter, type Kind, KINDS, topicOf } from './filter.ts';
import type { AbiEntry } from '../pages/contract/ReadCalls.tsx';
import { eventOf } from './abi.ts';

interface Props { filter: Filter; change: (filter: Filter) => void; start: () => void }

const COMMON = [
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
  fromAddress: ['From', 'who gives, calls or sends'],
  toAddress: ['To', 'who receives or is called'],
  token: ['Token', 'contract of the token'],
  type: ['Standard', 'ERC-20, ERC-721, ERC-1155'],
};

/** A word from what was typed at a topic: an address is padded to one, and so is a decimal number. */
export function wordOf(text: string): string {
  return text.split(',').map((part) => {
    const one = part.trim();
    if (isAddress(one)) return `0x${one.slice(2).toLowerCase().padStart(64, '0')}`;
    if (/^\d+$/.test(one)) return `0x${BigInt(one).toString(16).padStart(64, '0')}`;
    return one;
  }).join(',');
}

function complaint(name: keyof Filter, text: string): string {
  const values = text.split(',').map((one) => one.trim()).filter(Boolean);
  if (['address', 'fromAddress', 'toAddress', 'token'].includes(name)) return values.every(isAddress) ? '' : 'An address is 0x and 40 digits';
  if (name.startsWith('topic')) return values.every(isHash) ? '' : 'A topic is 0x and 64 digits';
  if (name === 'event') return !text.trim() || topicOf(text) ? '' : 'An event is written as Name(type name, …)';
  return '';
}

export function FilterForm({ filter, change, start }: Props) {
  const set = (name: keyof Filter, value: string) => change({ ...filter, [name]: value });
  // A day that is no block yet is not what would be read.
  const [open, setOpen] = useState<Record<string, boolean>>({});
  const hold = useCallback((side: string, isOpen: boolean) => setOpen((before) => (before[side] === isOpen ? before : { ...before, [side]: isOpen })), []);
  const bad = Object.values(open).some(Boolean) || FIELDS[filter.kind].some((name) => complaint(name, filter[name]) !== '');
  return (
    <form class="filter" onSubmit={(event) => { event.preventDefault(); if (!bad) start(); }}>
      <label><span>Rows</span>
        <select value={filter.kind} onChange={(event) => change({ ...filter, kind: event.currentTarget.value as Kind })}>
          {Object.entries(KINDS).map(([kind, name]) => <option key={kind} value={kind}>{name}</option>)}
        </select>
      </label>
      {FIELDS[filter.kind].map((name) => <Field key={name} name={name} filter={filter} set={set} />)}
      <BlockField label="From block" value={filter.fromBlock} set={(value) => set('fromBlock', value)} side="after" hold={hold} placeholder="0" />
      <BlockField label="To block" value={filter.toBlock} set={(value) => set('toBlock', value)} side="before" hold={hold} placeholder="the newest" />
      <label><span>Row limit</span><input value={filter.limit} onInput={(event) => set('limit', event.currentTarget.value.replace(/\D/g, ''))} placeholder="all rows" inputMode="numeric" /></label>
      <div class="row"><button type="submit" class="button main" disabled={bad}>Run the scan</button></div>
    </form>
  );
}

function Field({ name, filter, set }: { name: keyof Filter; filter: Filter; set: (name: keyof Filter, value: string) => void }) {
  const [label, hint] = LABELS[name] ?? [name, ''];
  const value = filter[name];
  const wrong = complaint(name, value);
  const events = useEvents(name === 'event' ? filter.address : '');
  const topic = name === 'event' ? topicOf(value) : null;
  return (
    <label><span>{label}</span>
      <input value={value} onInput={(event) => set(name, event.currentTarget.value)} onBlur={() => { if (name.startsWith('topic')) set(name, wordOf(value)); }} placeholder={hint} spellcheck={false} autocomplete="off"
        aria-invalid={wrong ? 'true' : undefined} list={name === 'event' ? 'events' : undefined} />
      {wrong && <small class="bad">{wrong}</small>}
      {topic && <small class="quiet hash whole">topic 0: {topic}</small>}
      {name === 'event' && <datalist id="events">{[...events, ...COMMON].map((event) => <option key={event} value={event} />)}</datalist>}
    </label>
  );
}

interface WithAbi { abi: AbiEntry[] | null }

/** Events of the contract, where its ABI is loaded. */
function useEvents(address: string): string[] {
  const { data } = useApi<WithAbi>(isAddress(address.trim()) ? `/api/v2/smart-contracts/${address.trim()}` : null);
  return (data?.abi ?? []).filter((entry) => entry.type === 'event').map((entry) => visible(eventOf(entry)));
}

/** A height, or a day that the API turns into one. */
function BlockField({ label, value, set, side, hold, placeholder }: {
  label: string; value: string; set: (value: string) => void; side: 'before' | 'after'; hold: (side: string, isOpen: boolean) => void; placeholder: string;
}) {
  const [message, setMessage] = useState('');
  const [date, setDate] = useState('');
  const clear = () => {
    setMessage('');
    setDate('');
    hold(side, false);
  };
  const day = async (text: string) => {
    setMessage('');
    setDate(text);
    hold(side, text !== '');
    if (!text) return;
    const seconds = Date.parse(`${text}T${side === 'after' ? '00:00:00' : '23:59:59'}Z`) / 1000;
    try {
      const answer = await getJson<{ status: string; message: string; result: { blockNumber?: string } | string }>(`/api?module=block&action=getblocknobytime&timestamp=${seconds}&closest=${side}`);
      const height = typeof answer.result === 'string' ? answer.result : answer.result?.blockNumber;
      if (answer.status === '1' && height !== undefined && /^\d+$/.test(height)) {
        set(height);
        hold(side, false);
      } else setMessage(answer.message);
    } catch (failure) {
      setMessage(failure instanceof Error ? failure.message : 'That day is not known.');
    }
  };
  return (
    <label><span>{label}</span>
      <span class="pair">
        <input value={value} onInput={(event) => { clear(); set(event.currentTarget.value); }} placeholder={placeholder} inputMode="numeric" />
        <input type="date" value={date} aria-label={`${label}, by its day in UTC`} onChange={(event) => void day(event.currentTarget.value)} />
      </span>
      {message && <small class="bad">{message} Nothing is read until this day is a block, or is taken away. <button type="button" class="button small" onClick={clear}>Without it</button></small>}
    </label>
  );
}
