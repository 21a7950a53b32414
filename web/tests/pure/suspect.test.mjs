// Tokens that look like others, and pictures of addresses.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { identicon } from '../../src/format/identicon.ts';
import { folded, suspicionOf, WELL_KNOWN } from '../../src/format/suspect.ts';

const HOME = { id: 1, symbol: 'ETH' };
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const OTHER = `0x${'5e'.repeat(20)}`;
const suspicion = (symbol, name = symbol, address_hash = OTHER, chain = HOME) => suspicionOf({ symbol, name, address_hash }, chain);

test('a genuine token is not marked', () => {
  assert.equal(suspicion('USDC', 'USD Coin', USDC), null);
  assert.equal(suspicion('USDC', 'USD Coin', USDC.toLowerCase()), null);
  assert.equal(suspicion('GLD', 'Gold, the token'), null);
  assert.equal(suspicion(null, null), null);
  assert.equal(suspicion('ГОСТ', 'Рубль'), null);
  assert.equal(suspicion('yvUSDC', 'USDC yVault 0.4.3'), null);
  assert.equal(suspicion('coins', 'coins', OTHER, { id: 31337, symbol: 'coins' }), null);
});

test('a token that looks like a well-known one, or like the coin, is', () => {
  assert.match(suspicion('USDC', 'USD Coin'), /well-known USDC/);
  assert.match(suspicion('USDC', 'USD Coin', USDC, { id: 10, symbol: 'ETH' }), /well-known USDC/);
  assert.match(suspicion('ЕТН', 'ЕТН'), /coin of the chain/);
  for (const mark of ['\u200b', '\u061c', '\u3164', '\u{e0041}']) assert.match(suspicion(`U${mark}SDC`), /invisible characters/);
  assert.match(suspicion('UЅDС'), /several scripts/);
  assert.match(suspicion('$ claim-usdc.xyz'), /web address/);
  assert.match(suspicion('REWARD', 'Visit https://x.example'), /web address/);
  assert.match(suspicion('ＵＳＤＴ'), /well-known USDT/);
  assert.equal(folded('USD₮'), 'USDT');
});

test('the list is that of the server', () => {
  const lines = readFileSync(new URL('../../../crates/json/src/tokens/known_tokens.txt', import.meta.url), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  const serverList = lines.map((line) => line.split(' ')).map(([chain, address, , symbol]) => `${symbol} ${chain}:${address.slice(2).toLowerCase()}`);
  const pageList = WELL_KNOWN.trim().split('\n').flatMap((line) => line.split(' ').slice(1).map((contract) => `${line.split(' ')[0]} ${contract}`));
  assert.deepEqual(pageList.toSorted(), serverList.toSorted());
});

test('pictures of addresses that begin and end alike differ', () => {
  const pictures = Array.from({ length: 500 }, (_, index) => JSON.stringify(identicon(`0x000000${String(index).padStart(28, '0')}000000`)));
  assert.ok(new Set(pictures).size > 490);
  assert.deepEqual(identicon(USDC), identicon(USDC.toLowerCase()));
});
