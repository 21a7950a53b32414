// Links of other explorers lead to the same things here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { canonicalPath } from '../../src/format/aliases.ts';

const address = `0x${'ab'.repeat(20)}`;
const hash = `0x${'cd'.repeat(32)}`;

test('usual paths of other explorers', () => {
  for (const [path, expected] of [
    ['/transactions', '/txs'], [`/transaction/${hash}`, `/tx/${hash}`], [`/txs/${hash}`, `/tx/${hash}`], ['/txs?block=12', '/block/12'], [`/txs?a=${address}`, `/address/${address}`],
    [`/account/${address}`, `/address/${address}`], [`/accounts/${address}`, `/address/${address}`], [`/address/${address}#code`, `/address/${address}?tab=code`],
    [`/contract/${address}`, `/address/${address}?tab=contract`], [`/address/${address}#tokentxns`, `/address/${address}?tab=tokentxns`], [`/tx/${hash}#eventlog`, `/tx/${hash}?tab=eventlog`],
    [`/tokens/${address}`, `/token/${address}`], [`/token/${address}?a=7`, `/token/${address}/instance/7`], [`/token/${address}?a=${address}`, `/address/${address}?tab=token_transfers`],
    [`/nft/${address}/7`, `/token/${address}/instance/7`], ['/nft', '/tokens?type=ERC-721,ERC-1155'], ['/uncles', '/blocks?type=uncle'], [`/uncle/${hash}`, `/block/${hash}`],
    ['/blocks_forked', '/blocks?type=reorg'], ['/block/12/f', '/blocks?type=reorg'], ['/txsInternal', '/internal-txs'], ['/stats', '/charts'], ['/advanced-filter', '/scan'],
    ['/search-results?q=a b', '/search?q=a%20b'], ['/blocks/12', '/block/12'],
  ]) {
    const url = new URL(path, 'http://x');
    assert.equal(canonicalPath(decodeURI(url.pathname), url.search, url.hash), expected, path);
  }
});

test('paths of this page stay', () => {
  for (const path of ['/', '/txs', '/accounts', '/tokens', `/address/${address}`, `/address/${address}#content`, `/address/${address}?tab=logs#x`, `/tx/${hash}?tab=logs`, '/nothing/here', '/nothing', '/block/12', `/token/${address}/instance/7`]) {
    const url = new URL(path, 'http://x');
    assert.equal(canonicalPath(url.pathname, url.search, url.hash), null, path);
  }
});

test('the server gives the page at each of them', () => {
  const server = readFileSync(new URL('../../../src/web/page.rs', import.meta.url), 'utf8');
  const aliases = /const ALIASES[^=]*= \[(?<names>[^\]]*)\]/.exec(server).groups.names.match(/(?<=")[^"]+/g).filter((name) => /\w/.test(name));
  for (const name of aliases) assert.notEqual(canonicalPath(`/${name}`, '', '') ?? canonicalPath(`/${name}/0x12`, '', ''), null, name);
});
