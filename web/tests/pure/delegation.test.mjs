// Whether delegations took effect (EIP-7702).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validityOf } from '../../src/format/delegation.ts';

const own = { authority: `0x${'23'.repeat(20)}`, address_hash: `0x${'8a'.repeat(20)}`, chain_id: '31337', nonce: '5' };
const reason = (of, before, after) => validityOf({ ...own, ...of }, 31337, { before, after }).why;

test('a delegation is valid at the nonce of its account, on its chain, with a signature', () => {
  assert.equal(reason({}, 5, 6), 'valid');
  // The sender's own nonce goes up before its delegation is looked at.
  assert.equal(reason({}, 4, 6), 'valid');
  assert.equal(reason({ chain_id: '0' }, 5, 6), 'valid');
  assert.match(reason({ chain_id: '1' }, 5, 6), /^void: it is for the chain 1/);
  assert.match(reason({ authority: null }, null, null), /^void: the signature/);
  assert.match(reason({ nonce: '77' }, 5, 6), /^void: the account was at nonce 6 after/);
  assert.match(reason({ nonce: '4' }, 5, 6), /^void: the account was at nonce 5 already/);
  assert.match(reason({}, null, null), /validity unknown/);
});
