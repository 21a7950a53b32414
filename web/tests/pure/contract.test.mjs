import assert from 'node:assert/strict';
import test from 'node:test';
import { dataOf, metadataOf, pictureOf } from '../../src/format/tokens/nft.ts';
import { compilerOf, standardFunctions } from '../../src/pages/contract/standard.ts';
import { keccak256 } from '../../src/format/keccak.ts';

test('functions of standards are found by the selectors that code compares', () => {
  const names = (code) => standardFunctions(code).map(({ name, inputs }) => `${name}(${inputs.map(({ type }) => type).join(',')})`);
  assert.deepEqual(names('0x608063313ce5671461000a57806370a08231'), ['decimals()', 'balanceOf(address)']);
  // A selector that begins with a zero is compared in three bytes.
  assert.deepEqual(names('0x8062fdd58e14'), ['balanceOf(address,uint256)']);
  assert.deepEqual(names('0x'), []);
});

test('each selector of a standard is that of its declaration', () => {
  const every = standardFunctions(DIGITS.join(''));
  assert.equal(every.length, DIGITS.length);
  for (const { name, inputs } of every) {
    const selector = keccak256(`${name}(${inputs.map(({ type }) => type).join(',')})`).slice(2, 10);
    assert.ok(DIGITS.some((push) => push.slice(2) === selector.replace(/^(00)+/, '')), `${name}: ${selector}`);
  }
});
const DIGITS = ['06fdde03', '95d89b41', '313ce567', '18160ddd', '70a08231', 'dd62ed3e', '6352211e', 'c87b56dd', '081812fc', 'e985e9c5', '00fdd58e', '0e89341c', '01ffc9a7', '8da5cb5b', '5c975abb', '5c60da1b', 'f851a440', '7ecebe00', '3644e515', '54fd4d50', '38d52e0f', '01e1d114', '07a2d13a', 'c6e6f592', 'a0e67e2b', 'e75235b8', '0dfe1681', 'd21220a7', '0902f1ac', 'ddca3f43', '50d25bcd', 'feaf968c'].map((digits) => (digits.startsWith('00') ? `62${digits.slice(2)}` : `63${digits}`));

test('the compiler is read from the metadata', () => {
  assert.equal(compilerOf(`0x60806040a264697066735822${'12'.repeat(34)}64736f6c63430008130033`), 'Solidity 0.8.19');
  assert.equal(compilerOf('0x6080'), null);
});

test('metadata is read where its URI holds it, and pictures where it holds them', () => {
  const object = { name: 'A "cat"', image: 'data:image/svg+xml;base64,PHN2Zy8+', attributes: [{ trait_type: 'Eyes', value: 2 }, null] };
  const uri = `data:application/json;base64,${btoa(JSON.stringify(object))}`;
  assert.deepEqual(metadataOf(uri), { name: 'A "cat"', description: null, image: object.image, traits: [['Eyes', '2']] });
  assert.deepEqual(metadataOf(`data:application/json;utf8,${encodeURIComponent('{"name":"ä%"}')}`)?.name, 'ä%');
  assert.equal(metadataOf('data:application/json,{')?.name, undefined);
  assert.equal(metadataOf('https://a.test/1'), null);
  assert.equal(dataOf('data:,%E0%A4%A'), null);
  assert.equal(pictureOf(object.image), object.image);
  assert.equal(pictureOf('https://a.test/1.png'), null);
  assert.equal(pictureOf('data:text/html,<script>'), null);
});
