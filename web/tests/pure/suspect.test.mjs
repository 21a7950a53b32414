// Tokens that look like others, and pictures of addresses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identicon } from '../../src/format/identicon.ts';
import { folded, suspicionOf } from '../../src/format/suspect.ts';
import { chains, knownTokensOf } from './known_tokens.mjs';

const HOME = { id: 1, symbol: 'ETH' };
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const OTHER = `0x${'5e'.repeat(20)}`;
const suspicion = (symbol, name = symbol, address_hash = OTHER, chain = HOME) => suspicionOf({ symbol, name, address_hash }, chain, knownTokensOf(chain.id));

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

test('tokens of bridges are not marked, nor any where the list has no such token', () => {
  const genuine = [
    [10, 'USDT', '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'], [10, 'DAI', '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1'], [137, 'WBTC', '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6'],
    [137, 'USDC', '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174'], [137, 'USDC', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'], [42161, 'LINK', '0xf97f4df75117a78c1A5a0DBb814Af92458539FB4'],
    [56, 'USDC', '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d'], [43114, 'USDC', '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'],
  ];
  for (const [id, symbol, address] of genuine) {
    assert.equal(suspicion(symbol, symbol, address, { id, symbol: 'ETH' }), null, `${id} ${symbol}`);
    assert.match(suspicion(symbol, symbol, OTHER, { id, symbol: 'ETH' }), /but is another contract/, `${id} ${symbol}`);
  }
  // A chain without a list, and a symbol that many tokens share.
  assert.equal(suspicion('USDT', 'Tether USD', OTHER, { id: 31337, symbol: 'coins' }), null);
  assert.equal(suspicion('SAFE', 'Another safe'), null);
});

test('no token of the lists is marked on its chain', () => {
  for (const id of chains) {
    const known = knownTokensOf(id);
    for (const { address, symbol, name } of known.all) assert.equal(suspicionOf({ symbol, name, address_hash: address }, { symbol: 'ETH' }, known), null, `${id} ${symbol}`);
  }
});

test('pictures of addresses that begin and end alike differ', () => {
  const pictures = Array.from({ length: 500 }, (_, index) => JSON.stringify(identicon(`0x000000${String(index).padStart(28, '0')}000000`)));
  assert.ok(new Set(pictures).size > 490);
  assert.deepEqual(identicon(USDC), identicon(USDC.toLowerCase()));
});
