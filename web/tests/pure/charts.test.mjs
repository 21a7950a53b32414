// Objects of periods as the series of charts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginOf, calendarOf, lineOf, partOf, seriesOf, shortSignature, withGaps } from '../../src/charts/periods.ts';

const item = (date, name, count) => ({ date, date_to: date, is_complete: true, name, count });

test('a series for each name, 0 where a period has none, and the rest together', () => {
  const items = [item('2024-01-02', 'a', 3), item('2024-01-01', 'a', 1), item('2024-01-01', 'b', 9), item('2024-01-02', 'c', 2), item('2024-01-02', 'd', 1)];
  const calendar = calendarOf(items, [], 'DAY');
  const series = seriesOf(calendar, items, (one) => one.name, (one) => one.count, 3);
  assert.deepEqual(calendar.x, [1704067200, 1704153600]);
  assert.deepEqual(series, [{ name: 'b', values: [9, 0] }, { name: 'a', values: [1, 3] }, { name: '2 others', values: [0, 3] }]);
  const empty = calendarOf([], [], 'DAY');
  assert.deepEqual([empty.x, seriesOf(empty, [], String, Number, 3)], [[], []]);
});

test('days without anything are 0 where all their blocks are loaded, and a gap where not', () => {
  const items = [item('2024-02-28', 'a', 3), item('2024-03-03', 'a', 1), item('2024-03-03', 'b', 4)];
  const calendar = calendarOf(items, [{ date: '2024-02-28', date_to: '2024-02-29' }, { date: '2024-03-03', date_to: '2024-03-05' }], 'DAY');
  assert.deepEqual(calendar.dates, ['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02', '2024-03-03', '2024-03-04', '2024-03-05']);
  assert.deepEqual(seriesOf(calendar, items, (one) => one.name, (one) => one.count, 3), [
    { name: 'a', values: [3, 0, null, null, 1, 0, 0] },
    { name: 'b', values: [0, 0, null, null, 4, 0, 0] },
  ]);
  const points = [item('2024-02-28', '', 30), item('2024-03-03', '', 10)];
  const line = lineOf(calendar, points, 'Price', (one) => one.count);
  assert.deepEqual(line.values, [30, 0, null, null, 10, 0, 0]);
  assert.deepEqual(withGaps(line, calendar, points).values, [30, null, null, null, 10, null, null]);
});

test('periods follow one another as the calendar has them', () => {
  const dates = (period, ...of) => calendarOf(of.map((date) => ({ date })), [], period).dates;
  assert.deepEqual(dates('WEEK', '2024-12-23', '2025-01-06'), ['2024-12-23', '2024-12-30', '2025-01-06']);
  assert.deepEqual(dates('WEEK', '1970-01-01', '1970-01-05'), ['1970-01-01', '1970-01-05']);
  assert.deepEqual(dates('MONTH', '2023-12-01', '2024-03-01'), ['2023-12-01', '2024-01-01', '2024-02-01', '2024-03-01']);
  assert.deepEqual(dates('YEAR', '2023-01-01', '2025-01-01'), ['2023-01-01', '2024-01-01', '2025-01-01']);
});

test('partial periods are reported', () => {
  const of = (...whole) => whole.map((is_complete, day) => ({ date: `2024-01-0${day + 1}`, date_to: '', is_complete }));
  assert.equal(partOf(of(true, true)), '');
  assert.equal(partOf(of(true, false)), ' The last point, 2024-01-02, may still grow.');
  assert.equal(partOf(of(false, true, true)), ' Of 1 of 3 points not all blocks are loaded.');
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
