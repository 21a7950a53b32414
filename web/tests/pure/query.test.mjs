// What people type into the search box, and what it may mean.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessesOf, searchedText } from '../../src/format/query.ts';
import { knownTokensOf } from './known_tokens.mjs';

const vocabulary = { names: { [`0x${'ab'.repeat(20)}`]: 'Cold wallet' }, tokens: knownTokensOf(1).all };
const guesses = (text) => guessesOf(text, vocabulary);
const certain = (text) => guesses(text).find((guess) => guess.isCertain);

test('heights in all spellings', () => {
  for (const text of ['20000000', '20,000,000', '#20000000', '# 20 000 000', ' 20_000_000 ']) assert.equal(certain(text)?.path, '/block/20000000', text);
  assert.equal(certain('0xf4240')?.path, '/block/1000000');
  assert.equal(certain('0')?.path, '/block/0');
  // Eight digits are those of a function too.
  assert.deepEqual(guesses('0x01312d00').map((guess) => guess.path), ['/tools?q=0x01312d00', '/block/20000000']);
  for (const text of ['1e18', '12.5', '-5', '1,00']) assert.equal(certain(text), undefined, text);
});

test('addresses, with and without 0x, and letters that do not fit', () => {
  const right = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
  assert.equal(certain(right).path, `/address/${right}`);
  assert.equal(certain(right).note, undefined);
  assert.equal(certain(right.slice(2).toLowerCase()).path, `/address/${right.toLowerCase()}`);
  assert.match(certain(right.replace('F6F4', 'f6F4')).note, /digit may be wrong/);
});

test('days and times are those of UTC', () => {
  assert.equal(certain('2024-01-01').seconds, 1704067200);
  assert.equal(certain('2024-01-01 12:30').seconds, 1704112200);
  assert.equal(certain('2024-01-01T12:30:05Z').seconds, 1704112205);
  assert.equal(certain('2024-13-01'), undefined);
});

test('selectors, signatures and events', () => {
  assert.equal(guesses('0xa9059cbb')[0].path, '/tools?q=0xa9059cbb');
  assert.equal(guesses('a9059cbb')[0].path, '/tools?q=0xa9059cbb');
  assert.equal(certain('transfer(address,uint256)').path, '/tools?q=transfer(address%2Cuint256)');
  assert.equal(guesses('cd'.repeat(32))[0].path, `/tools?q=0x${'cd'.repeat(32)}`);
  assert.match(guesses('0x1234567890abcdef')[0].note, /40 hexadecimal digits/);
});

test('own names and well-known tokens', () => {
  assert.deepEqual(guesses('wallet').map((guess) => [guess.name, guess.path]), [['Cold wallet', `/address/0x${'ab'.repeat(20)}`]]);
  for (const text of ['USDC', 'usdc', 'usd coin']) assert.ok(guesses(text).some((guess) => guess.path === '/token/0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'), text);
  assert.equal(guesses('tether')[0].path, '/token/0xdAC17F958D2ee523a2206206994597C13D831ec7');
  // A token of the second list.
  assert.equal(guesses('Paxos')[0].path, '/token/0x45804880De22913dAFE09f4980848ECE6EcbAf78');
  assert.equal(guessesOf('tether', { ...vocabulary, tokens: knownTokensOf(31337).all }).length, 0);
  assert.deepEqual(guesses('x'), []);
});

test('a pasted link is the object that it leads to', () => {
  const [address, hash] = [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(32)}`];
  assert.equal(searchedText(`https://explorer.example.org/tx/${hash}#eventlog`), hash);
  assert.equal(searchedText(` https://example.org/en/address/${address}?tab=logs `), address);
  // The other explorer may be of another chain.
  const of = (text) => guesses(text).map(({ path, isCertain, note }) => [path, isCertain, note?.includes('another chain')])[0];
  assert.deepEqual(of('http://127.0.0.1:4000/ethereum/block/20000000/transactions'), ['/block/20000000', false, true]);
  assert.deepEqual(of(`https://example.org/token/${address}`), [`/address/${address}`, false, true]);
  for (const text of ['https://example.org/', 'https://example.org/blocks', 'tx/12']) assert.equal(searchedText(text), text);
});
