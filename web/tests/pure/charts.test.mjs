// Objects of periods as the series of charts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginOf, seriesOf, shortSignature } from '../../src/charts/periods.ts';

const item = (date, name, count) => ({ date, date_to: date, is_complete: true, name, count });

test('a series for each name, 0 where a period has none, and the rest together', () => {
  const items = [item('2024-01-02', 'a', 3), item('2024-01-01', 'a', 1), item('2024-01-01', 'b', 9), item('2024-01-02', 'c', 2), item('2024-01-02', 'd', 1)];
  const { x, series } = seriesOf(items, (one) => one.name, (one) => one.count, 3);
  assert.deepEqual(x, [1704067200, 1704153600]);
  assert.deepEqual(series, [{ name: 'b', values: [9, 0] }, { name: 'a', values: [1, 3] }, { name: '2 others', values: [0, 3] }]);
  assert.deepEqual(seriesOf([], String, Number, 3), { x: [], series: [] });
});

test('names of what has no known name', () => {
  assert.equal(shortSignature('Transfer(address,address,uint256)', '0xddf2', 'none'), 'Transfer');
  assert.equal(shortSignature(null, '0xddf252ad1be2c89b', 'none'), '0xddf252ad…');
  assert.equal(shortSignature(null, '0xa9059cbb', 'none'), '0xa9059cbb');
  assert.equal(shortSignature(null, null, 'none'), 'none');
});

test('charts of every transaction begin some days before the newest block', () => {
  assert.equal(beginOf('DAY', '2025-07-07T17:00:00.000000Z'), '2025-06-24');
  assert.equal(beginOf('WEEK', '2025-03-02T00:00:00Z'), '2025-02-03');
  assert.equal(beginOf('MONTH', '1970-01-05T00:00:00Z'), '1970-01-01');
  assert.equal(beginOf('YEAR', '2025-07-07T17:00:00Z'), null);
});
