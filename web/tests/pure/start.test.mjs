// The start script requests exactly the paths that the pages request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstRequests, listPath, partFiles } from '../../src/start/requests.ts';

test('a list with its cursor', () => {
  assert.equal(listPath('/blocks', {}), '/api/v2/blocks');
  assert.equal(listPath('/blocks', { type: 'uncle', after: 'block_number=5&items_count=50' }), '/api/v2/blocks?type=uncle&block_number=5&items_count=50');
});

test('what each page needs first', () => {
  assert.equal(firstRequests('/', '').length, 4);
  assert.deepEqual(firstRequests('/block/12', ''), ['/api/v2/blocks/12', '/api/v2/blocks/12/transactions']);
  assert.deepEqual(firstRequests('/tx/0x1', '?tab=logs'), ['/api/v2/transactions/0x1']);
  assert.deepEqual(firstRequests('/accounts', '?sort=transactions_count'), ['/api/v2/addresses?sort=transactions_count']);
  assert.deepEqual(firstRequests('/scan', ''), []);
  assert.deepEqual(firstRequests('/docs', ''), []);
});

test('scripts that a page needs besides the first', () => {
  const parts = 'scan:Scan-1.js,stream-2.js;token:Token-3.js';
  assert.deepEqual(partFiles('/scan', parts), ['Scan-1.js', 'stream-2.js']);
  assert.deepEqual(partFiles('/token/0x12', parts), ['Token-3.js']);
  for (const path of ['/', '/tokens', '/tx/scan', '/constructor']) assert.deepEqual(partFiles(path, parts), []);
  assert.deepEqual(partFiles('/scan', ''), []);
});
