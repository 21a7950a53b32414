// Where a list goes on from what somebody typed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockOf, CURSORS } from '../../src/format/jump.ts';
import { finalityOf } from '../../src/format/finality.ts';
import { local } from '../../src/format/time.ts';
import { inUnit, weiOf } from '../../src/format/units.ts';

test('blocks, days to their end, and times', () => {
  assert.deepEqual(blockOf('20,000,000'), { block: 20_000_000 });
  assert.deepEqual(blockOf('2024-01-01'), { seconds: 1704067200 + 86_399 });
  assert.deepEqual(blockOf('2024-01-01 00:00'), { seconds: 1704067200 });
  for (const text of ['', 'yesterday', '0xa9059cbb', `0x${'ab'.repeat(20)}`]) assert.equal(blockOf(text), null, text);
  assert.equal(CURSORS.transactions(7), 'block_number=8&index=0');
});

test('local times have their zone', () => {
  const text = local('2024-02-17T08:49:36.000000Z');
  assert.match(text, /^2024-02-1[678] \d{2}:\d{2}:36 [+-]\d{2}:\d{2}$/);
  assert.equal(Date.parse(text.replace(' ', 'T').replace(' ', '')), Date.parse('2024-02-17T08:49:36Z'));
  assert.equal(local('never'), 'never');
});

test('units keep every digit', () => {
  assert.equal(weiOf('1', 18), 10n ** 18n);
  assert.equal(weiOf('1,000.000000000000000001', 18), 1000n * 10n ** 18n + 1n);
  assert.equal(weiOf('.5', 9), 500_000_000n);
  for (const text of ['', '.', '1e18', '-1', '0.1x']) assert.equal(weiOf(text, 18), null, text);
  assert.equal(weiOf('0.5', 0), null);
  assert.equal(weiOf('2.000', 0), 2n);
  assert.equal(inUnit(1_500_000_000n, 9), '1.5');
});

test('a block is final, safe, or neither', () => {
  const marks = { safe: 20, finalized: 10 };
  assert.deepEqual([10, 11, 20, 21].map((block) => finalityOf(block, marks)), ['finalized', 'safe', 'safe', 'not finalized yet']);
  assert.equal(finalityOf(5, null), null);
  assert.equal(finalityOf(5, { safe: 20, finalized: null }), null);
});
