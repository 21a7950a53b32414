import assert from 'node:assert/strict';
import test from 'node:test';
import { changesByAddress, slotsOf } from '../../src/format/trace/changes.ts';
import { throttle } from '../../src/api/throttle.ts';

const coin = (hash, change, more = {}) => ({ type: 'coin', address: { hash }, is_miner: false, change, token: null, token_id: null, ...more });

test('changes are together by address, the sender first, who receives the fees last, and dust apart', () => {
  const token = { ...coin('0xBB', '5'), type: 'token' };
  const items = [coin('0xaa', '7'), coin('0xff', '2000000000', { is_miner: true }), coin('0xbb', '-1000000001'), token, coin('0xcc', '3'), coin('0xdd', null)];
  const { groups, dust } = changesByAddress(items, '0xCC');
  assert.deepEqual(groups.map((group) => group.map((item) => item.address.hash)), [['0xcc'], ['0xbb', '0xBB'], ['0xdd'], ['0xff']]);
  assert.deepEqual(dust.map(([item]) => item.address.hash), ['0xaa']);
});

test('slots have the words before and after, and zero where one side has none', () => {
  const word = (digit) => `0x${digit.padStart(64, '0')}`;
  const slots = slotsOf({ pre: { '0xa': { storage: { [word('1')]: word('5') } }, '0xb': { balance: '0x1' } }, post: { '0xa': { storage: { [word('2')]: word('6') } } } });
  assert.deepEqual(slots, [
    { address: '0xa', slot: word('1'), before: word('5'), after: word('0') },
    { address: '0xa', slot: word('2'), before: word('0'), after: word('6') },
  ]);
});

test('a throttled function runs at once, then once a pause, and its last call is not lost', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let time = 1000;
  t.mock.method(performance, 'now', () => time);
  let acted = 0;
  const { call, stop } = throttle(100, () => { acted += 1; });
  const pass = (milliseconds) => {
    time += milliseconds;
    t.mock.timers.tick(milliseconds);
  };
  for (let block = 0; block < 10; block += 1) call();
  assert.equal(acted, 1);
  pass(100);
  assert.equal(acted, 2);
  for (let block = 0; block < 50; block += 1) {
    pass(10);
    call();
  }
  assert.ok(acted >= 6 && acted <= 8, String(acted));
  stop();
  const before = acted;
  pass(1000);
  assert.equal(acted, before);
});
