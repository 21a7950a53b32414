// What addresses are called.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delegateOf, isSharedName, nameOf } from '../../src/state/address_names.ts';

const bare = { name: null, ens_domain_name: null, implementation_name: null, implementations: [], proxy_type: null, is_contract: null };

test('a name is a label or ENS name before that of a class, and of a proxy that of what it runs', () => {
  assert.equal(nameOf({ ...bare, name: 'Faucet', ens_domain_name: 'faucet.eth', is_contract: false }), 'Faucet');
  assert.equal(nameOf({ ...bare, name: 'Coin', ens_domain_name: 'gold.eth', is_contract: true }), 'gold.eth');
  assert.equal(nameOf({ ...bare, implementation_name: 'CounterV2', proxy_type: 'eip1967', is_contract: true }), 'CounterV2');
  assert.equal(nameOf(bare), null);
});

test('an account is never called by the name of its delegate', () => {
  const account = { ...bare, implementation_name: 'Spreader', implementations: [{ address_hash: '0x2279', name: 'Spreader' }], proxy_type: 'eip7702', is_contract: true };
  assert.equal(nameOf(account), null);
  assert.equal(nameOf({ ...account, ens_domain_name: 'alice.eth', name: 'Alice' }), 'Alice');
  assert.equal(delegateOf(account), 'Spreader');
  assert.equal(delegateOf({ ...bare, proxy_type: 'eip1967' }), null);
});

test('a name that two addresses share is ambiguous', async () => {
  const two = ['0x01', '0x02'].map((end) => end.padEnd(42, '0'));
  assert.equal(isSharedName('Coin', two[0]), false);
  assert.equal(isSharedName('Coin', two[0].toUpperCase()), false);
  isSharedName('coin', two[1]);
  await Promise.resolve();
  assert.equal(isSharedName('Coin', two[0]) && isSharedName('Coin', two[1]), true);
  assert.equal(isSharedName('Gold', two[1]), false);
});
