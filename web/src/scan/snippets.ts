// The same scan for other tools: a command line, Python, viem, SQL.
import { type Filter, FIELDS, parameters, plainEvent, scanPath, topicOf } from './filter.ts';

/** A text in single quotes for a shell. */
const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export const curl = (filter: Filter, origin: string) => `curl -N ${shell(origin + scanPath(filter, { format: 'ndjson' }))}`;

export function python(filter: Filter, origin: string): string {
  const query = [...parameters(filter), ['format', 'ndjson']].map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`).join('\n');
  return `import json
import urllib.parse
import urllib.request

query = urllib.parse.urlencode({
${query}
})
mark = None
with urllib.request.urlopen(${JSON.stringify(`${origin}/api/v2/scan/${filter.kind}`)} + "?" + query) as answer:
    for line in answer:
        row = json.loads(line)
        if "end" in row:
            mark = row["end"]
        else:
            print(row)
if mark is None or not mark["complete"]:
    raise SystemExit("the rows are incomplete")`;
}

const list = (text: string) => text.split(',').map((one) => one.trim()).filter(Boolean);
const one = (values: string[]) => (values.length === 1 ? JSON.stringify(values[0]) : JSON.stringify(values));
const block = (text: string) => (/^\d+$/.test(text) ? `${text}n` : /^0x/.test(text) ? `${BigInt(text)}n` : JSON.stringify(text));

export function viem(filter: Filter, origin: string): string {
  if (filter.kind !== 'logs') return '// viem reads logs only: choose logs, or use another tool.';
  const options: string[] = [];
  if (filter.address.trim()) options.push(`address: ${one(list(filter.address))}`);
  const event = plainEvent(filter.event);
  if (event) options.push(`event: parseAbiItem(${JSON.stringify(`event ${event}`)})`);
  options.push(`fromBlock: ${block(filter.fromBlock.trim() || '0')}`, `toBlock: ${block(filter.toBlock.trim() || 'latest')}`);
  const topics = event ? [] : topicList(filter);
  const names = event ? 'createPublicClient, http, parseAbiItem' : 'createPublicClient, http';
  const call = topics.length > 0
    ? `const logs = await client.request({\n  method: 'eth_getLogs',\n  params: [${JSON.stringify({ ...(filter.address.trim() && { address: list(filter.address) }), topics, fromBlock: quantity(filter.fromBlock || '0'), toBlock: quantity(filter.toBlock || 'latest') })}],\n});`
    : `const logs = await client.getLogs({\n  ${options.join(',\n  ')},\n});`;
  return `import { ${names} } from 'viem';

const client = createPublicClient({ transport: http(${JSON.stringify(`${origin}/rpc`)}) });
${call}
console.log(logs);`;
}

const quantity = (text: string) => (/^\d+$/.test(text.trim()) ? `0x${BigInt(text.trim()).toString(16)}` : text.trim());

function topicList(filter: Filter): (string | string[] | null)[] {
  const topics = [filter.topic0, filter.topic1, filter.topic2, filter.topic3].map((text) => {
    const values = list(text);
    return values.length === 0 ? null : values.length === 1 ? (values[0] as string) : values;
  });
  while (topics.at(-1) === null) topics.pop();
  return topics;
}

const TABLES = { logs: 'v_logs_by_contract', 'token-transfers': 'v_token_transfers', 'internal-transactions': 'v_internal_transactions', transactions: 'v_transactions' } as const;
const COLUMNS: Record<string, string> = { fromAddress: 'from_address', toAddress: 'to_address', token: 'token_address', type: 'token_type' };

/** Only the hexadecimal digits of a value, so that nothing else gets into a statement. */
const digits = (value: string) => value.replace(/^0x/, '').replace(/[^0-9a-fA-F]/g, '');
const bytes = (values: string[]) => (values.length === 1 ? `= unhex('${digits(values[0] ?? '')}')` : `IN (${values.map((value) => `unhex('${digits(value)}')`).join(', ')})`);

export function sql(filter: Filter): string {
  const where: string[] = [];
  const topic = filter.kind === 'logs' && filter.event ? topicOf(filter.event) : null;
  for (const name of FIELDS[filter.kind]) {
    const values = list(filter[name]);
    if (values.length === 0 || name === 'event') continue;
    if (name === 'type') where.push(`token_type IN (${values.map((value) => `'${value.replace(/[^A-Za-z0-9-]/g, '')}'`).join(', ')})`);
    else if (name === 'address' && filter.kind !== 'logs') where.push(`(from_address ${bytes(values)} OR to_address ${bytes(values)})`);
    else where.push(`${COLUMNS[name] ?? name} ${bytes(values)}`);
  }
  if (topic && !filter.topic0.trim()) where.push(`topic0 ${bytes([topic])}`);
  const [first, last] = [filter.fromBlock.trim() || '0', filter.toBlock.trim()];
  if (/^\d+$/.test(first) && first !== '0') where.push(`block_number >= ${first}`);
  if (/^\d+$/.test(last)) where.push(`block_number <= ${last}`);
  const table = filter.kind === 'logs' && !filter.address.trim() ? 'v_logs' : TABLES[filter.kind];
  const order = { logs: 'log_index', 'token-transfers': 'log_index, batch_index', 'internal-transactions': 'transaction_index, frame_index', transactions: 'transaction_index' }[filter.kind];
  // Call frames of transactions only: the outermost one is the transaction itself, except for a creation.
  if (filter.kind === 'internal-transactions') where.push("(length(trace_address) > 0 OR frame_type = 'create') AND frame_type != 'reward'");
  return `SELECT *
FROM ${table}${where.length > 0 ? `\nWHERE ${where.join('\n  AND ')}` : ''}
ORDER BY block_number, ${order}${/^\d+$/.test(filter.limit.trim()) ? `\nLIMIT ${filter.limit.trim()}` : ''}`;
}
