// Which rows are hidden until the reader chooses otherwise.
import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.document ??= { documentElement: { dataset: {} } };
const { isHiding, isWorthless } = await import('../../src/state/hide_choice.ts');

const transfer = (total, token = {}) => ({ total, token: { name: 'Gold', symbol: 'GLD', address_hash: `0x${'5e'.repeat(20)}`, ...token } });

test('transfers of nothing and tokens with web addresses are hidden, ids and unknown amounts are not', () => {
  assert.equal(isHiding.value, true);
  assert.equal(isWorthless(transfer({ value: '0', decimals: '18' })), true);
  assert.equal(isWorthless(transfer({ value: '5', decimals: '18' }, { symbol: '$ claim-usdc.xyz' })), true);
  assert.equal(isWorthless(transfer({ value: '5', decimals: '18' })), false);
  assert.equal(isWorthless(transfer({ token_id: '0' })), false);
  assert.equal(isWorthless(transfer(null)), false);
});
