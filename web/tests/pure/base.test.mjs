// Paths of a chain on a server of several.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base, chains, ofChain, onOther, onServer } from '../../src/start/base.ts';

test('a server of one chain has no name before its paths', () => {
  assert.deepEqual([base, chains], ['', []]);
  assert.equal(onServer('/block/12'), '/block/12');
  assert.equal(ofChain('/block/12'), '/block/12');
});

test('the name of a chain comes before its paths', () => {
  assert.equal(onServer('/block/12?tab=x', '/base'), '/base/block/12?tab=x');
  assert.equal(onServer('/metrics', '/base'), '/metrics');
  assert.deepEqual(['/base', '/base/', '/base/txs', '/basement'].map((path) => ofChain(path, '/base')), ['/', '/', '/txs', '/basement']);
});

test('another chain has the same page, unless it is about a hash or a height', () => {
  assert.deepEqual(['/', '/blocks', '/address/0x1', '/block/12', '/tx/0x1'].map((path) => onOther('op', path)), ['/op/', '/op/blocks', '/op/address/0x1', '/op/', '/op/']);
});
