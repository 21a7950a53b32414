// Whether delegations took effect (EIP-7702).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validityOf } from '../../src/format/delegation.ts';

const own = { authority: `0x${'23'.repeat(20)}`, address_hash: `0x${'8a'.repeat(20)}`, chain_id: '31337', nonce: '5', status: null };
const reason = (of, before, after) => validityOf({ ...own, ...of }, 31337, { before, after }).why;

test('a delegation is valid where the API proves it', () => {
  assert.equal(reason({ status: 'ok' }, null, null), 'valid');
  assert.match(reason({ status: 'invalid_nonce' }, null, null), /^void: the account was at another nonce/);
  assert.match(reason({ status: 'invalid_nonce', nonce: '4' }, 5, 6), /^void: the account was at nonce 5 already/);
  assert.match(reason({ status: 'invalid_signature' }, 5, 6), /^void: the signature/);
  assert.match(reason({ status: 'invalid_chain_id', chain_id: '1' }, 5, 6), /^void: it is for the chain 1/);
});

test('without a proof it is void where the nonces exclude it, and unknown elsewhere', () => {
  assert.match(reason({ chain_id: '1' }, 5, 6), /^void: it is for the chain 1/);
  assert.match(reason({ authority: null }, null, null), /^void: the signature/);
  assert.match(reason({ nonce: '77' }, 5, 6), /^void: the account was at nonce 6 after/);
  assert.match(reason({ nonce: '4' }, 5, 6), /^void: the account was at nonce 5 already/);
  assert.match(reason({}, null, null), /validity unknown: the state/);
  // A transaction of the account itself uses a nonce as well.
  assert.match(reason({}, 5, 6), /validity unknown: this or another transaction/);
});
