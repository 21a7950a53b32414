// The filter of a scan: in the form, in the URL of the page, and as parameters of the API.
import { keccak256 } from '../format/keccak.ts';

export const KINDS = {
  logs: 'Logs',
  'token-transfers': 'Token transfers',
  'internal-transactions': 'Internal transactions',
  transactions: 'Transactions',
} as const;
export type Kind = keyof typeof KINDS;

/** Every field has the text of its input; empty fields are not part of the filter. */
export interface Filter {
  kind: Kind;
  address: string; event: string; topic0: string; topic1: string; topic2: string; topic3: string;
  fromAddress: string; toAddress: string; token: string; type: string;
  fromBlock: string; toBlock: string; limit: string;
  /** Days in UTC that the blocks were found by; the blocks are what counts. */
  fromDay: string; toDay: string;
}

const EMPTY: Filter = {
  kind: 'logs', address: '', event: '', topic0: '', topic1: '', topic2: '', topic3: '', fromAddress: '', toAddress: '', token: '', type: '',
  fromBlock: '0', toBlock: '', limit: '', fromDay: '', toDay: '',
};

/** The fields of each kind of scan. */
export const FIELDS: Record<Kind, (keyof Filter)[]> = {
  logs: ['address', 'event', 'topic0', 'topic1', 'topic2', 'topic3'],
  'token-transfers': ['address', 'fromAddress', 'toAddress', 'token', 'type'],
  'internal-transactions': ['address', 'fromAddress', 'toAddress'],
  transactions: ['address', 'fromAddress', 'toAddress'],
};

export function filterOf(query: Record<string, string>): Filter {
  const kind = query['kind'] !== undefined && query['kind'] in KINDS ? (query['kind'] as Kind) : 'logs';
  const filter: Filter = { ...EMPTY, kind };
  for (const name of [...FIELDS[kind], 'fromBlock', 'toBlock', 'limit', 'fromDay', 'toDay'] as Exclude<keyof Filter, 'kind'>[]) {
    const value = query[name];
    if (value !== undefined) filter[name] = value;
  }
  return filter;
}

/** The URL of the page with this filter. */
export function pageQuery(filter: Filter): string {
  const words = new URLSearchParams({ kind: filter.kind });
  for (const name of [...FIELDS[filter.kind], 'fromBlock', 'toBlock', 'limit', 'fromDay', 'toDay'] as const) {
    const value = filter[name].trim();
    if (value && !(name === 'fromBlock' && value === '0')) words.set(name, value);
  }
  return `/scan?${words}`;
}

/** Fields that hold addresses. */
export const ADDRESS_FIELDS: (keyof Filter)[] = ['address', 'fromAddress', 'toAddress', 'token'];

/** The text of an address field with an address in place of each private name, whatever the case of its letters. */
export function withAddresses(text: string, names: Record<string, string>): string {
  const addressOf = (name: string) => Object.entries(names).find(([, own]) => own.toLowerCase() === name.toLowerCase())?.[0];
  const whole = text.trim() && addressOf(text.trim());
  return whole || text.split(',').map((part) => addressOf(part.trim()) ?? part).join(',');
}

/** The declaration of an event in one line, without `event` and the semicolon. */
export const plainEvent = (event: string) => event.trim().replace(/^event\s+/, '').replace(/;$/, '').replace(/\s+/g, ' ');

/** The topic of an event: the hash of its name with the types of its parameters. Null if the text is not a declaration. */
export function topicOf(event: string): string | null {
  const found = /^(\w+)\s*\((.*)\)$/.exec(plainEvent(event));
  if (!found) return null;
  const types = split(found[2] ?? '').map(bareType);
  return types.includes('') ? null : keccak256(`${found[1]}(${types.join(',')})`);
}

/** Parameters at the outermost level. */
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of text) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (letter === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += letter;
  }
  return part.trim() || parts.length > 0 ? [...parts, part] : [];
}

function bareType(parameter: string): string {
  const text = parameter.trim();
  const tuple = /^(?:tuple)?\s*\((.*)\)((?:\[\d*\])*)/.exec(text);
  if (tuple) return `(${split(tuple[1] ?? '').map(bareType).join(',')})${tuple[2] ?? ''}`;
  const type = text.split(' ')[0] ?? '';
  return type.replace(/^(u?int)(?=$|\[)/, '$1256');
}

/** The parameters of the API. An event is passed as `decode`, which also filters. */
export function parameters(filter: Filter): URLSearchParams {
  const words = new URLSearchParams();
  for (const name of FIELDS[filter.kind]) {
    const value = filter[name].trim();
    if (!value) continue;
    if (name === 'event') words.set('decode', plainEvent(value));
    else words.set(name, value.replace(/\s+/g, ''));
  }
  words.set('fromBlock', filter.fromBlock.trim().replace(/[,_ ]/g, '') || '0');
  if (filter.toBlock.trim()) words.set('toBlock', filter.toBlock.trim().replace(/[,_ ]/g, ''));
  if (filter.limit.trim()) words.set('limit', filter.limit.trim());
  return words;
}

/** The path of the scan, with further parameters. */
export function scanPath(filter: Filter, more: Record<string, string> = {}): string {
  const words = parameters(filter);
  for (const [name, value] of Object.entries(more)) words.set(name, value);
  return `/api/v2/scan/${filter.kind}?${words}`;
}
