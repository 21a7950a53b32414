// Transactions of other chains by what the API says of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feeParts, methodOf, recipientOf } from '../../src/format/kind.ts';

const account = { hash: `0x${'11'.repeat(20)}` };
const facts = (own) => ({ chain_facts: { type: null, fee: [], facts: [], calls_count: null, calls: null, ...own } });
const bare = { to: null, created_contract: null, method: null, raw_input: '0x', transaction_types: [] };

test('a transaction without a recipient creates a contract on Ethereum, and not by being of a chain’s own type', () => {
  assert.equal(recipientOf(bare), 'creation');
  assert.equal(recipientOf({ ...bare, to: account, ...facts({ type: 'deposit' }) }), 'account');
  assert.equal(recipientOf({ ...bare, ...facts({ type: 'deposit' }) }), 'none');
  assert.equal(recipientOf({ ...bare, created_contract: account, ...facts({ type: 'deposit' }) }), 'creation');
  assert.equal(recipientOf({ ...bare, ...facts({ type: 'calls', calls_count: 2, calls: [] }) }), 'calls');
  assert.equal(recipientOf({ ...bare, ...facts({}) }), 'creation');
});

test('types of a chain are named where no name of a method says more', () => {
  const call = { ...bare, to: account, raw_input: '0x12345678', transaction_types: ['contract_call'] };
  assert.equal(methodOf(bare), 'creation');
  assert.equal(methodOf({ ...bare, to: account }), 'transfer');
  assert.equal(methodOf({ ...call, method: '0x12345678' }), '0x12345678');
  assert.equal(methodOf({ ...call, method: '0x12345678', ...facts({ type: 'L1 attributes' }) }), 'L1 attributes');
  assert.equal(methodOf({ ...call, method: 'relayMessage', ...facts({ type: 'deposit' }) }), 'relayMessage');
  assert.equal(methodOf({ ...bare, to: account, ...facts({ type: 'state sync' }) }), 'state sync');
});

test('a fee of one part is not split', () => {
  const part = (name, value) => ({ name, unit: 'wei', value });
  assert.deepEqual(feeParts({}), []);
  assert.deepEqual(feeParts(facts({ fee: [part('execution', '0')] })), []);
  assert.equal(feeParts(facts({ fee: [part('execution', '5'), part('data on L1', '6')] })).length, 2);
});
