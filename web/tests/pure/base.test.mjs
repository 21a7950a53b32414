// Paths of a chain on a server of several.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base, chains, chainPath, otherChainPath, serverPath } from '../../src/start/base.ts';

test('a server of one chain has no name before its paths', () => {
  assert.deepEqual([base, chains], ['', []]);
  assert.equal(serverPath('/block/12'), '/block/12');
  assert.equal(chainPath('/block/12'), '/block/12');
});

test('the name of a chain comes before its paths', () => {
  assert.equal(serverPath('/block/12?tab=x', '/base'), '/base/block/12?tab=x');
  assert.equal(serverPath('/metrics', '/base'), '/metrics');
  assert.deepEqual(['/base', '/base/', '/base/txs', '/basement'].map((path) => chainPath(path, '/base')), ['/', '/', '/txs', '/basement']);
});

test('another chain has the same page, unless it is about a hash or a height', () => {
  assert.deepEqual(['/', '/blocks', '/address/0x1', '/block/12', '/tx/0x1'].map((path) => otherChainPath('op', path)), ['/op/', '/op/blocks', '/op/address/0x1', '/op/', '/op/']);
});
