// Amounts, times, hashes: what goes in as text of the API comes out as people read it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, count, exact, percent, short, sizeOf, withGroups } from '../../src/format/amount.ts';
import { shortHash, shortName, textOf, visible } from '../../src/format/hash.ts';
import { checksum, keccak256 } from '../../src/format/keccak.ts';
import { lengthOf, without } from '../../src/format/ranges.ts';
import { absolute, relative, ageOrDate, isNone, span } from '../../src/format/time.ts';
import { reasonText } from '../../src/format/trace/reason.ts';
import { failureOf, originOf, treeOf, treeText } from '../../src/format/trace/tree.ts';

test('amounts keep every digit', () => {
  assert.equal(exact('1234567890123456789', 18), '1.234567890123456789');
  assert.equal(exact('-1', 18), '-0.000000000000000001');
  assert.equal(exact('0', 18), '0');
  assert.equal(exact('1000000000000000000000000', 18), '1,000,000');
  assert.equal(exact(String(2n ** 256n - 1n), 0), '115,792,089,237,316,195,423,570,985,008,687,907,853,269,984,665,640,564,039,457,584,007,913,129,639,935');
  assert.equal(exact('15', 0), '15');
});

test('short amounts are rounded', () => {
  assert.equal(short('999999999999999999', 18), '1');
  assert.equal(short('1999999', 6), '2');
  assert.equal(short('1234567', 6), '1.23457');
  assert.equal(short('9999999999999999999999', 18), '10,000');
  assert.equal(short('10000996219230000000000', 18), '10,001');
  assert.equal(short('-10000994219230000000000', 18), '-10,000.99');
  assert.equal(short('12345678901', 6), '12,345.68');
  assert.equal(short('1', 18), '0.000000000000000001');
  assert.equal(short('0', 18), '0');
  assert.equal(short('-21000185598000', 18), '-0.000021');
});

test('what is not known is not a number', () => {
  assert.equal(count(null), null);
  assert.equal(count(undefined), null);
  assert.equal(count(0), '0');
  assert.equal(count('1234567'), '1,234,567');
});

test('shares and sizes', () => {
  assert.equal(percent(1), '100 %');
  assert.equal(percent(0.999999), '> 99.99 %');
  assert.equal(percent(2.5e-6), '< 0.01 %');
  assert.equal(bytes(999), '999 bytes');
  assert.equal(bytes(135_192), '135 kB');
});

test('times are in UTC, ages in whole steps', () => {
  assert.equal(absolute('2024-02-17T08:49:36.000000Z'), '2024-02-17 08:49:36 UTC');
  assert.equal(absolute('nonsense'), 'nonsense');
  assert.equal(relative(0, 61_000), '1 minute ago');
  assert.equal(relative(0, 3 * 86_400_000), '3 days ago');
  assert.equal(relative(5000, 0), 'just now');
  assert.equal(relative(0, 7000), '7 seconds ago');
  assert.equal(relative(90_000, 0), 'in 1 minute');
  const now = Date.parse('2026-12-01T00:00:00Z');
  assert.equal(ageOrDate('2026-11-02T00:00:00Z', now), '29 days ago');
  assert.equal(ageOrDate('2025-07-08T01:02:03Z', now), '2025-07-08');
  assert.equal(isNone('1970-01-01T00:00:00.000000Z'), true);
  assert.equal(isNone('2015-07-30T15:26:13.000000Z'), false);
  assert.equal(span(90_000), '1 minute');
  assert.equal(span(-3_600_000), '1 hour');
});

test('short hashes', () => {
  assert.equal(shortHash('0x1234'), '0x1234');
});

test('marks that cannot be seen become codes', () => {
  assert.equal(visible('a\u202eb\u0000c'), 'a\\u202eb\\u0000c');
  assert.equal(visible('US\u00adDC\u061c\u3164\u{e0041}'), 'US\\u00adDC\\u061c\\u3164\\u{e0041}');
  assert.equal(visible('U\ufe01S\u034fD\u2800'), 'U\\ufe01S\\u034fD\\u2800');
  assert.equal(visible('❤\ufe0f \u0600'), '❤\ufe0f \u0600');
  assert.equal(shortName('x'.repeat(5000)).length, 41);
  assert.equal(shortName('🚀'.repeat(50), 3), '🚀🚀🚀…');
});

test('bytes that are a text', () => {
  assert.equal(textOf('0x4275696c6465724e657420284265617665726275696c6429'), 'BuilderNet (Beaverbuild)');
  for (const data of ['0x', '0x4142', '0xd883010d', '0x476574680000', '0xffffffff']) assert.equal(textOf(data), null);
});

test('keccak and checksums', () => {
  assert.equal(keccak256(''), '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  assert.equal(keccak256('Transfer(address,address,uint256)'), '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');
  // Two blocks of input: checked against another implementation of the same function.
  assert.equal(keccak256('a'.repeat(200)), '0x96ea54061def936c4be90b518992fdc6f12f535068a256229aca54267b4d084d');
  // The examples of EIP-55.
  for (const address of ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb']) {
    assert.equal(checksum(address.toLowerCase()), address);
  }
});

test('what is there is the rest of what is missing', () => {
  const whole = { first: 0, last: 10 };
  assert.deepEqual(without(whole, []), [whole]);
  assert.deepEqual(without(whole, [{ first: 0, last: 2 }, { first: 5, last: 5 }]), [{ first: 3, last: 4 }, { first: 6, last: 10 }]);
  assert.deepEqual(without(whole, [{ first: 0, last: 10 }]), []);
  assert.equal(lengthOf(without(whole, [{ first: 3, last: 10 }])), 3);
});

test('call frames become a tree', () => {
  const frame = (traceAddress, to) => ({ type: 'call', action: { callType: 'call', to, input: '0xa9059cbb00', value: '0x0' }, result: null, traceAddress });
  const root = treeOf([frame([], '0x1'), frame([0], '0x2'), frame([0, 0], '0x3'), frame([1], '0x4')]);
  assert.equal(treeText(root), 'call 0x1 0xa9059cbb\n  call 0x2 0xa9059cbb\n    call 0x3 0xa9059cbb\n  call 0x4 0xa9059cbb');
  // Nobody read the data of a call that used no gas.
  const plain = treeOf([{ ...frame([], '0x1'), result: { gasUsed: '0x0' } }]);
  assert.equal(treeText(plain), 'call 0x1');
  assert.equal(treeOf([]), null);
});

const decoded = (method_id, method_call, ...values) => ({ method_id, method_call, parameters: values.map((value) => ({ name: '', type: '', value })) });

test('reverts in words', () => {
  assert.equal(reasonText(decoded('0x08c379a0', 'Error(string reason)', 'no\u202e thanks')), 'no\\u202e thanks');
  assert.equal(reasonText(decoded('0x4e487b71', 'Panic(uint256 code)', '17')), 'Panic 0x11: arithmetic underflow or overflow');
  assert.match(reasonText(decoded('0x4e487b71', 'Panic(uint256 code)', '255')), /^Panic 0xff: unknown code/);
  assert.equal(reasonText(decoded('0x23e13a2d', 'TooDeep(uint256 depth, address who)', '7', '0xAb')), 'TooDeep(7, 0xAb)');
  assert.equal(reasonText(decoded('0x12345678', 'Odd(uint256[] all, string text)', ['1', '2'], 'a "b"')), 'Odd([1, 2], "a \\"b\\"")');
  assert.equal(reasonText({ raw: '0x6e6f207468616e6b73' }), 'no thanks');
  assert.equal(reasonText({ raw: '0x00ff' }), '0x00ff');
  const word = (digits) => digits.padEnd(64, '0');
  assert.equal(reasonText({ raw: `0x08c379a0${'20'.padStart(64, '0')}${'9'.padStart(64, '0')}${word('6e6f207468616e6b73')}` }), 'no thanks');
  assert.match(reasonText({ raw: '0x08c379a0ff' }), /^0x08c379a0ff/);
  assert.equal(reasonText({ raw: `0x4e487b71${'12'.padStart(64, '0')}` }), 'Panic 0x12: division or modulo by zero');
  // Its four bytes are the letters "aUZ6".
  assert.match(reasonText({ raw: '0x61555a36' }), /^custom error 0x61555a36$/);
  assert.match(reasonText({ raw: `0x61555a36${'20'.repeat(32)}` }), /^custom error 0x61555a36$/);
  // Uniswap V3 says its reasons in two letters.
  const errorOf = (digits) => ({ raw: `0x08c379a0${'20'.padStart(64, '0')}${String(digits.length / 2).padStart(64, '0')}${digits && word(digits)}` });
  assert.deepEqual(['4153', '', '610a62'].map((digits) => reasonText(errorOf(digits))), ['AS', 'an empty text', 'a b']);
  assert.equal(reasonText(null), null);
  assert.ok(reasonText(decoded('0x08c379a0', 'Error(string reason)', 'x'.repeat(5000))).length < 400);
});

test('a revert began where no call below failed with the same', () => {
  const frame = (traceAddress, error, raw) => ({ type: 'call', action: { callType: 'call', to: `0x${traceAddress.length}` }, result: null, error, revert_reason: raw ? { raw } : null, traceAddress });
  const root = treeOf([frame([], 'Reverted', '0x01ff'), frame([0], 'Reverted', '0x02ff'), frame([1], 'Reverted', '0x01ff'), frame([1, 0], undefined), frame([1, 1], 'Reverted', '0x01ff')]);
  const failed = (node) => [node.failed, ...node.calls.flatMap(failed)];
  assert.deepEqual(failed(root), ['below', 'here', 'below', undefined, 'here']);
  assert.equal(failureOf(root.calls[0]), 'Reverted: 0x02ff');
  assert.deepEqual(originOf(root).frame.traceAddress, [1, 1]);
  assert.deepEqual(treeText(root).split('\n').map((line) => line.trim()), ['call 0x0 failed', 'call 0x1 failed: Reverted: 0x02ff', 'call 0x1 failed', 'call 0x2', 'call 0x2 failed: Reverted: 0x01ff']);
});

test('numbers longer than a line by their size', () => {
  assert.equal(sizeOf(String(2n ** 256n - 1n), 0), 'max uint256');
  assert.equal(sizeOf(String(2n ** 256n - 2n), 0), '1.158 × 10⁷⁷');
  assert.equal(sizeOf(String(-(10n ** 40n)), 18), '-1.000 × 10²²');
  assert.equal(sizeOf(String(99_999_999n * 10n ** 30n), 0), '1.000 × 10³⁸');
  assert.equal(sizeOf(String(10n ** 38n), 18), null);
});

test('heights in sentences of the API are in groups, other digits are not', () => {
  assert.equal(withGroups('Blocks 31-36, 101-1755633, 20000001-22162262 are not indexed.'), 'Blocks 31-36, 101-1,755,633, 20,000,001-22,162,262 are not indexed.');
  assert.equal(withGroups('Traces of block 22869878 are not indexed'), 'Traces of block 22,869,878 are not indexed');
  for (const text of ['code 0x1234567890 of 0xabcdef1234567', 'block 1234', 'v1.23456.7', 'of 123456.789']) assert.equal(withGroups(text), text);
});
