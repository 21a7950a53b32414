// Fees of the newest blocks, from the answer of eth_feeHistory (https://ethereum.github.io/execution-apis).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, nextBaseFee, pointsOf } from '../../src/format/gas.ts';

const history = {
  oldestBlock: '0x64', baseFeePerGas: ['0x3b9aca00', '0x77359400', '0x4a817c80'], gasUsedRatio: [0.5, 0],
  reward: [['0x5f5e100', '0x3b9aca00', '0x77359400'], ['0x0', '0x0', '0x0']],
};

test('each block has its fees, an empty one no priority fees', () => {
  assert.deepEqual(pointsOf(history), [
    { height: 100, baseFee: 1, fullness: 50, tips: [0.1, 1, 2] },
    { height: 101, baseFee: 2, fullness: 0, tips: [null, null, null] },
  ]);
  assert.deepEqual(pointsOf({ ...history, reward: undefined })[0].tips, [null, null, null]);
});

test('the last base fee is that of the next block, unless there are none', () => {
  assert.equal(nextBaseFee(history), 1_250_000_000n);
  assert.equal(nextBaseFee({ ...history, baseFeePerGas: ['0x0', '0x0', '0x0'] }), null);
});

test('costs are gas times the price', () => {
  assert.equal(costOf(21_000, 1.5), '31500000000000');
  assert.equal(costOf(21_000, 0.000000001), '21000');
});
