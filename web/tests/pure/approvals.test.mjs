import assert from 'node:assert/strict';
import test from 'node:test';
import { addApprovals, APPROVAL, APPROVAL_FOR_ALL, isRevoked, leftOf, questionOf } from '../../src/format/tokens/approvals.ts';

const word = (digits) => `0x${digits.padStart(64, '0')}`;
const [owner, one, other, token] = ['aa', 'b1', 'b2', 'cc'].map((digits) => `0x${digits.padStart(40, '0')}`);
const topic = (address) => word(address.slice(2));
const log = (topics, data, blockNumber) => ({ address: token, topics, data, blockNumber, logIndex: '0x0', transactionHash: word(blockNumber.slice(2)) });

test('the last approval of each spender, id and operator counts', () => {
  const approvals = new Map();
  addApprovals(approvals, [
    log([APPROVAL, topic(owner), topic(one)], word('5'), '0x1'),
    log([APPROVAL, topic(owner), topic(other)], word('7'), '0x2'),
    log([APPROVAL, topic(owner), topic(one), word('9')], '0x', '0x3'),
    log([APPROVAL_FOR_ALL, topic(owner), topic(one)], word('1'), '0x4'),
  ]);
  addApprovals(approvals, [
    log([APPROVAL, topic(owner), topic(one)], word('0'), '0x5'),
    log([APPROVAL, topic(owner), word('0'), word('9')], '0x', '0x6'),
    log([APPROVAL], '0x', '0x7'),
  ]);
  const all = [...approvals.values()].map((approval) => [approval.kind, approval.spender, Number(approval.value), approval.block, isRevoked(approval)]);
  assert.deepEqual(all, [['amount', one, 0, 5, true], ['amount', other, 7, 2, false], ['id', word('0').slice(0, 42), 9, 6, true], ['all', one, 1, 4, false]]);
});

test('the rest of an approval is a call to the token, and an answer of another length is none', () => {
  const approval = (kind, value) => ({ token, spender: one, kind, value, block: 1, transaction: '0x' });
  assert.equal(questionOf(approval('amount', 5n), owner), `0xdd62ed3e${topic(owner).slice(2)}${topic(one).slice(2)}`);
  assert.equal(questionOf(approval('all', 1n), owner), `0xe985e9c5${topic(owner).slice(2)}${topic(one).slice(2)}`);
  assert.equal(questionOf(approval('id', 9n), owner), `0x081812fc${word('9').slice(2)}`);
  assert.equal(leftOf(approval('amount', 5n), word('3')), 3n);
  assert.equal(leftOf(approval('id', 9n), topic(one)), 1n);
  assert.equal(leftOf(approval('id', 9n), topic(other)), 0n);
  assert.equal(leftOf(approval('all', 1n), '0x'), null);
});
