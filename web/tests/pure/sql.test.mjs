import assert from 'node:assert/strict';
import test from 'node:test';
import { sqlLink, statementOf } from '../../src/format/sql_link.ts';
import { Lines } from '../../src/sql/client.ts';
import { basic } from '../../src/sql/login.ts';
import { chartOf } from '../../src/sql/values.ts';

const WHOLE = '{"progress":{"read_rows":"1","read_bytes":"8","total_rows_to_read":"2","elapsed_ns":"1500000000"}}\n{"meta":[{"name":"a","type":"UInt8"}]}\n{"row":["1"]}\n{"row":["€"]}\n\n{"end":{"seconds":2}}\n';

test('a link has any statement', () => {
  for (const statement of ['SELECT 1', 'SELECT \'%23#&+\n €\' -- x', '']) assert.equal(statementOf(sqlLink(statement).slice('/sql'.length)), statement);
  assert.equal(statementOf('#%'), '');
});

test('an answer without its closing line is not whole, wherever it was cut', () => {
  for (let length = 0; length < WHOLE.length; length += 1) {
    const lines = new Lines();
    lines.take(WHOLE.slice(0, length));
    assert.throws(() => lines.close(), /incomplete/, String(length));
  }
  const lines = new Lines();
  const first = lines.take(WHOLE.slice(0, 120));
  const second = lines.take(WHOLE.slice(120));
  assert.deepEqual([...first.rows, ...second.rows], [['1'], ['€']]);
  assert.deepEqual(first.cost, { rows: 1, bytes: 8, total: 2, seconds: 1.5 });
  assert.equal(lines.close(), 2);
});

test('an error in the middle is one, also after half a line', () => {
  for (const end of ['{"row":["1\n{"error":{"message":"Code: 241"}}\n', '{"exception":"Code: 241"}\n']) assert.throws(() => new Lines().take(`{"meta":[]}\n${end}`), /Code: 241/);
});

test('a login is encoded as UTF-8', () => {
  assert.equal(basic('ana', 's:ecret'), 'Basic YW5hOnM6ZWNyZXQ=');
  assert.equal(basic('ä', '€'), `Basic ${Buffer.from('ä:€').toString('base64')}`);
});

test('times and blocks with numbers are a chart, in order and with gaps', () => {
  const time = [{ name: 'day', type: 'Nullable(Date)' }, { name: 'name', type: 'String' }, { name: 'n', type: 'LowCardinality(Nullable(UInt64))' }];
  assert.deepEqual(chartOf(time, [['2024-01-02', 'b', '2'], ['2024-01-01', 'a', 'ᴺᵁᴸᴸ']]), { x: [1_704_067_200, 1_704_153_600], axis: 'time', series: [{ name: 'n', values: [null, 2] }] });
  const precise = [{ name: 't', type: 'DateTime64(3, \'UTC\')' }, { name: 'n', type: 'Float64' }];
  assert.deepEqual(chartOf(precise, [['2024-01-01 00:00:01.500', '1'], ['2024-01-01 00:00:02.000', 'nan']])?.series[0]?.values, [1, null]);
  const block = [{ name: 'block_number', type: 'UInt64' }, { name: 'n', type: 'Int8' }];
  assert.equal(chartOf(block, [['2', '1'], ['1', '1']])?.axis, 'height');
  assert.equal(chartOf([{ name: 'token', type: 'String' }, { name: 'n', type: 'Int8' }], [['a', '1'], ['b', '1']]), null);
  assert.equal(chartOf([{ name: 'n', type: 'UInt8' }, { name: 'm', type: 'Int8' }], [['1', '1'], ['2', '1']]), null);
});
