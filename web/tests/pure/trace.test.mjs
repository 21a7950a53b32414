// Trees of calls: what is read in them, what is folded, and that neither width nor depth hurts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callText, coinMoves, treeOf, treeText } from '../../src/format/trace/tree.ts';
import { rowsOf } from '../../src/format/trace/rows.ts';

const frame = (traceAddress, own = {}) => ({ type: 'call', result: { gasUsed: '0x5', output: '0x' }, traceAddress, ...own, action: { callType: 'call', from: '0xaa', to: '0xbb', input: '0xa9059cbb00', value: '0x0', ...own.action } });
const everything = () => true;

test('a call is read with its parameters and results', () => {
  const input = { method_call: 'transfer(address to, uint256 value)', method_id: '0xa9059cbb', parameters: [{ name: 'to', type: 'address', value: '0xCc' }, { name: 'arg1', type: 'uint256', value: '5' }] };
  const root = treeOf([frame([]), frame([0])], [{ method: 'transfer', input, output: [{ name: '', type: 'bool', value: 'true' }] }, { method: '0xa9059cbb', input: null, output: null }]);
  assert.equal(callText(root), 'transfer(to: 0xCc, 5) → true');
  assert.equal(treeText(root), 'call 0xbb transfer(to: 0xCc, 5) → true\n  call 0xbb 0xa9059cbb');
});

test('calls of the same function in a row are one row, until it is unfolded', () => {
  const same = Array.from({ length: 3000 }, (_, index) => frame([index], { action: { input: `0xa9059cbb${index}` } }));
  const root = treeOf([frame([], { action: { to: '0xcc' } }), ...same, frame([3000], { action: { to: '0xdd' } })]);
  const rows = rowsOf(root, (_, node, depth, isRun) => !isRun);
  assert.deepEqual(rows.map((row) => [row.id, row.more]), [['0', undefined], ['0.0', undefined], ['0.0+', 2999], ['0.3000', undefined]]);
  assert.equal(rowsOf(root, everything).length, 3003);
  // A run of calls that differ below, in how they ended, or in whom they call, is none.
  const others = [frame([0]), frame([1]), frame([1, 0]), frame([2], { error: 'Reverted' }), frame([3], { action: { to: '0xee' } })];
  assert.equal(rowsOf(treeOf([frame([]), ...others]), (_, node, depth, isRun) => !isRun).length, 6);
});

test('a thousand levels are a thousand rows', () => {
  const deep = Array.from({ length: 1024 }, (_, depth) => frame(Array(depth).fill(0)));
  const rows = rowsOf(treeOf(deep), everything);
  assert.equal(rows.length, 1024);
  assert.equal(rows.at(-1).depth, 1023);
  assert.equal(rowsOf(treeOf(deep), (_, node, depth) => depth < 4).length, 5);
});

test('coins that went back, and those of delegated calls, did not move', () => {
  const pays = (traceAddress, own) => frame(traceAddress, { ...own, action: { value: '0x1', ...own?.action } });
  const root = treeOf([pays([]), frame([0], { error: 'Reverted' }), pays([0, 0]), pays([1], { action: { callType: 'delegatecall' } }), pays([2], { action: { to: '0xdd' } })]);
  assert.deepEqual(coinMoves(root), [{ from: '0xaa', to: '0xbb', value: '1' }, { from: '0xaa', to: '0xdd', value: '1' }]);
});
