// Filters of scans: from the form to the address of the page, the API, and other tools.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Buckets } from '../../src/scan/buckets.ts';
import { filterOf, pageQuery, parameters, scanPath, topicOf, withAddresses } from '../../src/scan/filter.ts';
import { curl, python, sql, viem } from '../../src/scan/snippets.ts';

const TRANSFER = 'Transfer(address indexed from, address indexed to, uint256 value)';
const HASH = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const GOLD = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512';

test('the hash of an event as people write it', () => {
  assert.equal(topicOf(TRANSFER), HASH);
  assert.equal(topicOf('event Transfer(address,address,uint);'), HASH);
  assert.equal(topicOf('Transfer'), null);
  assert.equal(topicOf('Transfer(address,,uint)'), null);
  assert.equal(topicOf('X((uint a, address b)[2] list, uint8[] more)'), topicOf('X((uint256,address)[2],uint8[])'));
  assert.notEqual(topicOf('Paused()'), null);
});

test('a filter survives the address of the page', () => {
  const filter = filterOf({ kind: 'logs', address: GOLD, event: TRANSFER, fromBlock: '5', toBlock: '90' });
  const again = filterOf(Object.fromEntries(new URL(`http://x${pageQuery(filter)}`).searchParams));
  assert.deepEqual(again, filter);
  assert.equal(filterOf({ kind: 'nonsense' }).kind, 'logs');
});

test('what the API takes', () => {
  const filter = filterOf({ kind: 'logs', address: GOLD, event: `event ${TRANSFER};`, toBlock: '1,000' });
  assert.deepEqual(Object.fromEntries(parameters(filter)), { address: GOLD, decode: TRANSFER, fromBlock: '0', toBlock: '1000' });
  assert.match(scanPath(filter, { format: 'csv' }), /^\/api\/v2\/scan\/logs\?.*format=csv$/);
  // Fields of other kinds are left out.
  assert.equal(parameters(filterOf({ kind: 'transactions', topic0: HASH })).has('topic0'), false);
});

test('nothing that was typed gets out of a snippet', () => {
  const evil = filterOf({ kind: 'token-transfers', address: "0x'); DROP TABLE logs; --", type: "ERC-20') OR 1", fromBlock: "0' $(id)" });
  assert.doesNotMatch(sql(evil), /DROP|OR 1|id/);
  assert.match(curl(evil, "http://x"), /^curl -N '[^']*'$/);
  assert.doesNotMatch(python(evil, 'http://x').split('\n').find((line) => line.includes('address')), /[^\\]"\)/);
});

test('the same filter for other tools', () => {
  const filter = filterOf({ kind: 'logs', address: GOLD, event: TRANSFER, fromBlock: '1', toBlock: '50' });
  assert.equal(sql(filter), `SELECT *\nFROM v_logs_by_contract\nWHERE address = unhex('${GOLD.slice(2)}')\n  AND topic0 = unhex('${HASH.slice(2)}')\n  AND block_number >= 1\n  AND block_number <= 50\nORDER BY block_number, log_index`);
  assert.match(viem(filter, 'http://x'), /parseAbiItem\("event Transfer/);
  assert.match(viem(filter, 'http://x'), /fromBlock: 1n/);
});

test('rows are counted in steps that grow', () => {
  const buckets = new Buckets();
  for (let second = 0; second < 20_000; second += 1) buckets.add(second, second % 10 ? 'a' : 'b');
  const { x, series } = buckets.series(5);
  assert.ok(x.length <= 500 && buckets.width > 12);
  assert.equal(series.flatMap((one) => one.values).reduce((sum, count) => sum + count, 0), 20_000);
  assert.deepEqual(series.map((one) => one.name), ['a', 'b']);
});

test('rare names are put together', () => {
  const buckets = new Buckets();
  for (let name = 0; name < 9; name += 1) for (let times = 0; times <= name; times += 1) buckets.add(times * 12, `e${name}`);
  const { series } = buckets.series(4);
  assert.deepEqual(series.map((one) => one.name), ['e8', 'e7', 'e6', '6 others']);
});

test('the days that blocks were found by are in the URL of the page alone', () => {
  const filter = filterOf({ kind: 'logs', fromBlock: '100', fromDay: '2024-01-01' });
  assert.equal(pageQuery(filter), '/scan?kind=logs&fromBlock=100&fromDay=2024-01-01');
  assert.equal(parameters(filter).get('fromDay'), null);
});

test('private names stand for their addresses', () => {
  const [a, b] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];
  const names = { [a]: 'Cold wallet', [b]: 'Joe, the baker' };
  assert.equal(withAddresses('cold WALLET', names), a);
  assert.equal(withAddresses(`${b}, Cold wallet`, names), `${b},${a}`);
  assert.equal(withAddresses('Joe, the baker', names), b);
  assert.equal(withAddresses('nobody', names), 'nobody');
  assert.equal(withAddresses('', names), '');
});
