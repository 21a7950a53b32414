import assert from 'node:assert/strict';
import test from 'node:test';
import { keccak256, toRlp } from 'viem/utils';
import { flawOf } from '../../src/format/proof.ts';

// A trie of two receipts: an extension, a branch below it, and two leaves, of which one is short enough to stand inside of the branch.
const long = `0x02${'ab'.repeat(60)}`;
const short = '0x01c0';
const leaf = toRlp(['0x20', long]);
const branch = toRlp([...Array.from({ length: 16 }, (_, digit) => (digit === 1 ? keccak256(leaf) : digit === 2 ? ['0x20', short] : '0x')), '0x']);
const root = toRlp(['0x10', keccak256(branch)]);
const header = toRlp([...Array(5).fill('0x'), keccak256(root), '0x05']);
const proof = { blockNumber: '0x1', blockHash: keccak256(header), header, key: '0x01', receipt: long, proof: [root, branch, leaf] };

test('a proof holds, also where a node stands inside of the one above', () => {
  assert.equal(flawOf(proof), null);
  assert.equal(flawOf({ ...proof, key: '0x02', receipt: short, proof: [root, branch] }), null);
});

test('whatever is changed in a proof is found', () => {
  assert.match(flawOf({ ...proof, blockHash: keccak256('0x') }), /header/);
  assert.match(flawOf({ ...proof, receipt: `${long.slice(0, -1)}c` }), /another receipt/);
  assert.match(flawOf({ ...proof, key: '0x02', receipt: long }), /elsewhere|another/);
  assert.match(flawOf({ ...proof, key: '0x03' }), /elsewhere|hash/);
  assert.match(flawOf({ ...proof, proof: [root, branch] }), /end before/);
  assert.match(flawOf({ ...proof, proof: [branch, leaf] }), /expected hash/);
  assert.match(flawOf({ ...proof, proof: [root, branch, toRlp(['0x20', short])] }), /expected hash/);
});
