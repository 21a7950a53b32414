// Kinds of transactions of other chains.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feeParts, methodOf, recipientOf } from '../../src/format/kind.ts';
import { branchOf, depthOf } from '../../src/format/branch.ts';
import { commonName, precompileOf } from '../../src/format/precompile.ts';
import { selectorOf } from '../../src/format/trace/tree.ts';

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
  assert.equal(methodOf({ ...bare, method: '0x60806040', raw_input: '0x60806040' }), 'creation');
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

test('precompiled contracts have names, and no methods', () => {
  const number = (digits) => `0x${digits.padStart(40, '0')}`;
  assert.equal(precompileOf(number('1')), 'ECRecover');
  assert.equal(precompileOf(number('100')), 'P256Verify');
  for (const other of [number('0'), number('12'), number('10001'), account.hash, `0x1${'0'.repeat(39)}`]) assert.equal(precompileOf(other), null, other);
  assert.equal(commonName(number('0')), 'Zero address');
  assert.equal(methodOf({ ...bare, to: { hash: number('4') }, method: '0x68656c6c', raw_input: '0x68656c6c6f' }), 'precompile');
  const call = (to) => selectorOf({ frame: { type: 'call', action: { to, input: '0x000000001122' }, result: { gasUsed: '0xbb8' }, traceAddress: [] }, calls: [] });
  assert.equal(call(number('1')), undefined);
  assert.equal(call(account.hash), '0x00000000');
});

test('blocks that were replaced together are found by their parents', () => {
  const block = (hash, parent, height) => ({ hash, parent_hash: parent, height });
  const [one, two, three] = [block('b1', 'a0', 1), block('b2', 'b1', 2), block('b3', 'b2', 3)];
  const another = block('c2', 'a1', 2);
  for (const member of [one, two, three]) assert.deepEqual(branchOf(member, [three, another, two, one]), [one, two, three]);
  assert.deepEqual(branchOf(another, [three, another, two, one]), [another]);
  // A list goes from the newest block down; what is below its last one is on the next page.
  assert.deepEqual(depthOf(three, [three, another, two, one], false), { depth: 3, isAtLeast: false });
  assert.deepEqual(depthOf(three, [three, another, two], true), { depth: 2, isAtLeast: true });
  assert.deepEqual(depthOf(another, [three, another, two], true), { depth: 1, isAtLeast: false });
  assert.deepEqual(branchOf(two, []), [two]);
  const round = block('x', 'x', 1);
  assert.equal(branchOf(round, [round]).length < 4, true);
});
